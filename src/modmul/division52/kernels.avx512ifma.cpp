// SPDX-License-Identifier: Apache-2.0
#include "modmul/division52/kernels.hpp"

#include <type_traits>

#include "modmul/division52/division.avx512ifma.hpp"

namespace manymod::division52 {
namespace {

/// Numbers of up to this many limbs have kernels of their own, in which all columns stay in registers.
constexpr std::size_t kShortLimbs = 16;
static_assert(digits_for(kShortLimbs) <= kWindow && digits_for(kShortLimbs + 1) > kWindow);
static_assert(digits_for(kMaxLimbs) <= ifma52::kMaxDigits);

/// f(limbs), as a compile-time constant for short numbers.
template <class F>
inline auto with_limbs(std::size_t limbs, F f) {
  if (limbs > kShortLimbs) return f(limbs);
  decltype(f(limbs)) result{};
  ifma52::with_constant<1, kShortLimbs>(limbs, [&](auto count) { result = f(count); });
  return result;
}

/// The scratch of one call.
struct Scratch {
  Limb* x;         ///< L digits
  Limb* y;         ///< L digits
  Limb* columns;   ///< 2 L columns of the product, and a block's more; limbs before and after it
  Limb* quotient;  ///< digits of a block
  Scratch(Limb* words, std::size_t digits)
      : x(words),
        y(words + digits * kLanes),
        columns(words + 2 * digits * kLanes),
        quotient(words + (4 * digits + kBlock) * kLanes) {}
};

/// t = a b, the lower L columns from the bias on.
template <std::size_t digits>
inline void multiply_short(Limb* t, const Limb* a, const Limb* b) {
  if constexpr (digits <= ifma52::kBlock) {
    ifma52::short_product<digits>(t, b, a);
  } else {
    constexpr std::size_t kLower = (digits + 1) / 2;
    ifma52::product_block<kLower>(t, b, a, digits, true);
    ifma52::product_block<digits - kLower>(t + kLower * kLanes, b + kLower * kLanes, a, digits, false);
  }
}

inline void multiply_long(Limb* t, const Limb* a, const Limb* b, std::size_t digits) {
  for (std::size_t start = 0; start < digits; start += kBlock) {
    const std::size_t rest = digits - start;
    ifma52::with_constant<1, kBlock>(rest < kBlock ? rest : kBlock, [&](auto size) {
      ifma52::product_block<size>(t + start * kLanes, b + start * kLanes, a, digits, start == 0);
    });
  }
}

/// The top two digits of D's reciprocal, rounded down: see division.avx512ifma.hpp.
struct Reciprocal {
  Vector v1, v0;
};

using Doubles = __m512d;
/// On input: below 2^63 in magnitude.
inline Doubles to_doubles(Vector v) { return __builtin_convertvector(reinterpret_cast<__v8di>(v), __v8df); }
/// floor(v), or 0 where v is negative.
inline Vector floor_of(Doubles v) {
  return _mm512_maskz_cvttpd_epu64(_mm512_cmp_pd_mask(v, _mm512_setzero_pd(), _CMP_GT_OQ), v);
}

/// On input: the top two digits of D, the upper one with its top bit.
Reciprocal reciprocal_of(Vector d1, Vector d0) {
  // V to 2^-50 by a division of doubles, less 2^-49: v1 is at most 2^4 too small.
  const Doubles approximation = 0x1p52 / (to_doubles(d1) + 0x1p-52 * to_doubles(d0));
  Vector v1 = floor_of(0x1p52 * (approximation - 1 - 0x1p-49));
  // E = W^2 - (D's top two digits + 1) (W + v1) / W, rounded down; below 2^57.
  Vector high = d1;
  add_high(high, d1, v1);
  Vector low = _mm512_add_epi64(d0, broadcast(3));
  add_low(low, d1, v1);
  add_high(low, d0, v1);
  const Vector above = _mm512_sub_epi64(broadcast(Limb{1} << kDigitBits), high);
  const Vector missing = _mm512_sub_epi64(shift_left(above, kDigitBits), low);
  // The rest of V is E V, of which nothing is missing where v1 is 0 and E negative.
  const Vector v0 = floor_of((1 - 0x1p-49) * approximation * to_doubles(missing));
  v1 = _mm512_add_epi64(v1, shift_right(v0, kDigitBits));
  return {v1, digit_of(v0)};
}

/// m = W^L - D.
inline void negate(Limb* m, const Limb* d, std::size_t digits) {
  Vector carry = broadcast(1);
#pragma GCC unroll 20
  for (std::size_t j = 0; j < digits; ++j) {
    const Vector sum =
        _mm512_add_epi64(_mm512_xor_si512(vector_at(d + j * kLanes), broadcast(kDigitMask)), carry);
    set_vector(m + j * kLanes, digit_of(sum));
    carry = shift_right(sum, kDigitBits);
  }
}

/// The zeros above the highest 1 of each lane, which is not 0.
inline Vector leading_zeros(Vector v) {
  // The exponent of a double. Without the bit below the highest, rounding does not reach the next power of 2.
  constexpr unsigned kFractionBits = 52;
  constexpr Limb kExponentOfTopBit = 1023 + 63;
  const Vector without_next = _mm512_and_si512(v, _mm512_xor_si512(shift_right(v, 1), broadcast(~Limb{0})));
  const Doubles rounded = _mm512_maskz_cvtepu64_pd(0xff, without_next);
  const Vector exponent = shift_right(reinterpret_cast<Vector>(rounded), kFractionBits);
  return _mm512_sub_epi64(broadcast(kExponentOfTopBit), exponent);
}

template <class Count>
bool set_divisors_of(Limb* block, const Limb* const* moduli, Count limbs, Limb* columns) {
  const std::size_t digits = digits_for(limbs);
  Limb* const value = block + digits * kLanes;
  load_rows(columns, moduli, limbs, limbs);
  const Vector shift = leading_zeros(vector_at(columns + (limbs - 1) * kLanes));
  normalise(columns, limbs, shift);
  to_digits(value, columns, limbs, spare_bits(limbs));
  negate(block, value, digits);
  const Reciprocal reciprocal =
      reciprocal_of(vector_at(value + (digits - 1) * kLanes), vector_at(value + (digits - 2) * kLanes));
  set_vector(value + digits * kLanes, reciprocal.v1);
  set_vector(value + (digits + 1) * kLanes, reciprocal.v0);
  set_vector(value + (digits + 2) * kLanes, shift);
  return true;
}

/// columns += z 2^shift 2^spare_bits for the rows z of `width` limbs. work: 2 L digits.
template <class Count>
[[gnu::noinline]] void add_shifted(Limb* columns, const Limb* const* rows, std::size_t width, Count limbs,
                                   Vector shift, Limb* work) {
  const std::size_t count = digits_for(limbs);
  Limb* const z = work + count * kLanes;
  load_rows(z, rows, width, limbs);
  const Vector above = normalise(z, limbs, shift);
  to_digits(work, z, limbs, spare_bits(limbs));
  const auto add_to = [&](std::size_t column, Vector digit) {
    set_vector(columns + column * kLanes, _mm512_add_epi64(vector_at(columns + column * kLanes), digit));
  };
#pragma GCC unroll 20
  for (std::size_t j = 0; j < count; ++j) add_to(j, vector_at(work + j * kLanes));
  // The bits by which z is longer than n, fewer than 64.
  add_to(count, digit_of(above));
  add_to(count + 1, shift_right(above, kDigitBits));
}

/// The lanes where all bits from 2^52 on are 0.
inline std::uint8_t lanes_in_range(Vector out_of_range) {
  return _mm512_testn_epi64_mask(out_of_range, broadcast(~kDigitMask));
}

/// One vector of operands on its way.
template <class Count>
class Work {
 public:
  Work(const Products& operands, const Limb* block, Count limbs, Limb* words)
      : operands_(operands),
        limbs_(limbs),
        divisors_{block, digits_for(limbs)},
        s_(words, divisors_.digits) {}

  /// Both operands as digits, x shifted as D is.
  void load() {
    load_operand(operands_.y, operands_.y_limbs);
    to_digits(s_.y, s_.columns, limbs_, 0);
    load_operand(operands_.x, operands_.x_limbs);
    // x 2^k < W^L for D = n 2^k, and y < W^L / 2 <= D: the upper half of x 2^k y is below D.
    lost_ = normalise(s_.columns, limbs_, divisors_.shift());
    to_digits(s_.x, s_.columns, limbs_, spare_bits(limbs_));
  }
  void multiply() {
    if constexpr (std::is_same_v<Count, std::size_t>) {
      multiply_long(s_.columns, s_.x, s_.y, divisors_.digits);
    } else {
      multiply_short<digits_for(Count::value)>(s_.columns, s_.x, s_.y);
    }
  }
  /// Adds z, shifted as D is. With n < 2^b <= 2^k, k the bits of its limbs, and x < 2^b, y, z < 2^k:
  ///   x y + z <= (2^b - 1) (2^k - 1) + 2^k - 1 = 2^b (2^k - 1).
  /// The shift makes that W^L (2^k - 1), and 2^k - 1 < W^L / 2 <= D: with z, too, the upper half is below D,
  /// although z may be longer than n. Columns grow by less than W: they have room for it, as the division
  /// starts with sums of 2 L products and a bias, and adds no more than 2 L products.
  void add_addends() {
    static_assert(4 * digits_for(kMaxLimbs) + 2 < Limb{1} << (63 - kDigitBits));
    if (operands_.z_limbs == 0) return;
    // The digits of x and y are not needed any more.
    add_shifted(s_.columns, operands_.z, operands_.z_limbs, limbs_, divisors_.shift(), s_.x);
  }
  Vector divide() {
    if constexpr (std::is_same_v<Count, std::size_t>) {
      return divide_long(s_.columns, s_.quotient, divisors_);
    } else {
      return divide_short<digits_for(Count::value)>(s_.columns, divisors_);
    }
  }
  /// Stores the lanes that nothing prevents; @return them.
  std::uint8_t finish(Vector out_of_range) {
    const Vector top = finish_remainder(s_.columns, divisors_, divisors_.digits);
    const std::uint8_t lanes =
        lanes_in_range(either(out_of_range, top)) & _mm512_testn_epi64_mask(lost_, lost_);
    from_digits(s_.x, s_.columns, limbs_, spare_bits(limbs_));
    denormalise(s_.x, limbs_, divisors_.shift());
    store_rows(operands_.r, s_.x, limbs_, lanes);
    return lanes;
  }

  [[nodiscard]] const Divisors& divisors() const { return divisors_; }
  [[nodiscard]] Limb* columns() const { return s_.columns; }

 private:
  const Products& operands_;
  Count limbs_;
  Divisors divisors_;
  Scratch s_;
  Vector lost_ = zero();

  void load_operand(const Limb* const* rows, std::size_t width) {
    if (width == limbs_) return load_rows(s_.columns, rows, limbs_, limbs_);
    load_rows(s_.columns, rows, width, limbs_);
  }
};

}  // namespace

void set_divisors(Limb* block, const Limb* const* moduli, std::size_t limbs, Limb* scratch) {
  with_limbs(limbs, [&](auto count) { return set_divisors_of(block, moduli, count, scratch); });
}

std::uint8_t multiply(const Products& operands, const Limb* block, Limb* scratch) {
  return with_limbs(operands.limbs, [&](auto limbs) {
    Work work(operands, block, limbs, scratch);
    work.load();
    work.multiply();
    work.add_addends();
    return work.finish(work.divide());
  });
}

std::uint16_t multiply_pair(const Products (&operands)[2], const Limb* const (&blocks)[2], Limb* scratch) {
  std::uint16_t lanes = 0;
  ifma52::with_constant<1, kPairedLimbs>(operands[0].limbs, [&](auto limbs) {
    Work first(operands[0], blocks[0], limbs, scratch);
    Work second(operands[1], blocks[1], limbs, scratch + scratch_words(limbs));
    first.load();
    second.load();
    first.multiply();
    second.multiply();
    first.add_addends();
    second.add_addends();
    Vector out_of_range[2];
    divide_short_pair<digits_for(decltype(limbs)::value)>(
        {first.columns(), second.columns()}, {first.divisors(), second.divisors()}, out_of_range);
    lanes = first.finish(out_of_range[0]);
    lanes = static_cast<std::uint16_t>(lanes | second.finish(out_of_range[1]) << kLanes);
  });
  return lanes;
}

}  // namespace manymod::division52
