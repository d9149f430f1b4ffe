// SPDX-License-Identifier: Apache-2.0
// Long division from the top down of eight numbers side by side (Knuth, TAOCP 2, 4.3.1), in digits of 52 bits
// and W = 2^52. Included by kernels.avx512ifma.cpp alone.
//
// A divisor D has L digits and its top bit is set: W^L / 2 <= D < W^L. A row takes the partial remainder R
// and the next digit down: R W + digit - q D. It is computed with M = W^L - D, since vpmadd52 only adds: R W
// + digit + q M - q W^L.
//
// Quotient digits are estimated from the reciprocal V = W^L / D in two digits after the point, V = 1 + v1 / W
// + v0 / W^2, and the top two digits T1, T0 of R, as floor((T1 + T0 / W) V). Everything is rounded down: V by
// less than 2^7 / W^2, T0 by less than 2 (a carry from further below is left out), and two products by 1 / W
// each. So q is too small by less than 1 + 2^-44, after which R < (1 + 2^-44) D. The next q then is below
// 2^52 unless R is at least D, as one of 2^44 remainders is. Such an R, or one whose T1 is negative since a
// carry is still below T0, is noticed by bits of T1 or q from 2^52 on, and the lane is given up.
#pragma once

#include "modmul/division52/lanes.avx512ifma.hpp"
#include "modmul/division52/products.hpp"
#include "modmul/ifma52/reduction.avx512ifma.hpp"

namespace manymod::division52 {
namespace {

using avx512ifma::add;
using avx512ifma::add_high;
using avx512ifma::add_low;
using avx512ifma::carry_of;
using avx512ifma::load;
using avx512ifma::store;

/// Columns of the remainder in registers while the rows of a long division are worked off in blocks.
constexpr std::size_t kWindow = 20;
/// Rows of a block. The lowest columns of a window lack the products below it, one more in each row.
constexpr std::size_t kBlock = ifma52::kBlock;
static_assert(kBlock + 4 <= kWindow && kBlock == kScratchRows);
// In divisions of short numbers all columns stay in registers.
static_assert(digits_for(kShortLimbs) <= kWindow && digits_for(kShortLimbs + 1) > kWindow);
static_assert(digits_for(kMaxLimbs) <= ifma52::kMaxDigits);

/// The top S columns of a partial remainder, and rows over the top S digits of M.
template <std::size_t S>
struct TopColumns {
  Vector column[S];
  Vector v1, v0;
  Vector out_of_range = zero();
  const Limb* m;  ///< the top S digits of M

  TopColumns(const Limb* top_digits, const Divisors& divisors)
      : v1(vector_at(divisors.reciprocal(0))), v0(vector_at(divisors.reciprocal(1))), m(top_digits) {}

  /// The quotient digit of the next row.
  [[gnu::always_inline]] inline Vector quotient_digit(Vector incoming) {
    const Vector second = add(column[S - 2], carry_of(S > 2 ? column[S - 3] : incoming));
    const Vector first = add(column[S - 1], carry_of(second));
    Vector low = zero();
    add_high(low, second, v1);
    Vector other_low = digit_of<Avx512Words>(second);
    add_low(other_low, first, v1);
    Vector q = first;
    add_high(q, first, v1);
    add_high(low, first, v0);
    q = add(q, carry_of(add(low, other_low)));
    out_of_range = Avx512Words::either(out_of_range, Avx512Words::either(first, q));
    return q;
  }

  /// Takes a digit down and subtracts q D.
  [[gnu::always_inline]] inline void subtract(Vector q, Vector incoming) {
    Vector above = _mm512_sub_epi64(column[S - 1], q);
#pragma GCC unroll 20
    for (std::size_t below = 1; below <= S; ++below) {
      const std::size_t j = S - below;
      const Vector factor = load(m + j * kLanes);
      add_high(j + 1 < S ? column[j + 1] : above, q, factor);
      column[j] = j > 0 ? column[j - 1] : incoming;
      add_low(column[j], q, factor);
    }
    // What is left above the top column is as much as its carry, with the other sign.
    column[S - 1] = add(column[S - 1], Avx512Words::shift_left(above, kDigitBits));
  }
};

/// The columns of products, 2 `digits` of them, of which the lower half begins with the bias of
/// ifma52::product_block.
template <std::size_t digits>
struct Dividend {
  TopColumns<digits> top;
  Limb* t;

  Dividend(Limb* columns, const Divisors& divisors) : top(divisors.negated(), divisors), t(columns) {
#pragma GCC unroll 20
    for (std::size_t j = 0; j < digits; ++j) top.column[j] = load(t + (digits + j) * kLanes);
  }
  /// The digit that row 1, 2, .. takes down.
  [[nodiscard]] Vector incoming(std::size_t row) const {
    return _mm512_sub_epi64(load(t + (digits - row) * kLanes), broadcast(ifma52::kBias));
  }
  /// The lower half of t = the remainder's columns; @return what is out of range.
  Vector finish() const {
#pragma GCC unroll 20
    for (std::size_t j = 0; j < digits; ++j) store(t + j * kLanes, top.column[j]);
    return top.out_of_range;
  }
};

/// The lower half of t = the remainder's columns; @return what is out of range.
template <std::size_t digits>
[[gnu::noinline]] Vector divide_short(Limb* t, const Divisors& divisors) {
  Dividend<digits> a(t, divisors);
#pragma GCC unroll 20
  for (std::size_t row = 1; row <= digits; ++row) {
    const Vector incoming = a.incoming(row);
    a.top.subtract(a.top.quotient_digit(incoming), incoming);
  }
  return a.finish();
}

/// The same for two vectors in turn: a short row ends before its quotient digit is through the pipeline, and
/// the other vector's fills the gap.
template <std::size_t digits>
[[gnu::noinline]] void divide_short_pair(Limb* const (&t)[2], const Divisors (&divisors)[2],
                                         Vector (&out_of_range)[2]) {
  Dividend<digits> a(t[0], divisors[0]);
  Dividend<digits> b(t[1], divisors[1]);
#pragma GCC unroll 10
  for (std::size_t row = 1; row <= digits; ++row) {
    const Vector incoming[] = {a.incoming(row), b.incoming(row)};
    const Vector q[] = {a.top.quotient_digit(incoming[0]), b.top.quotient_digit(incoming[1])};
    a.top.subtract(q[0], incoming[0]);
    b.top.subtract(q[1], incoming[1]);
  }
  out_of_range[0] = a.finish();
  out_of_range[1] = b.finish();
}

/// `rows` rows on the window whose lowest column is column[0]; the columns below it are taken in.
/// quotient: their digits, the last row's first.
template <std::size_t rows>
[[gnu::noinline]] Vector divide_window(Limb* column, Limb* quotient, const Divisors& divisors) {
  TopColumns<kWindow> top(divisors.negated() + (divisors.digits - kWindow) * kLanes, divisors);
  ifma52::load_block(top.column, column);
#pragma GCC unroll 10
  for (std::size_t row = 1; row <= rows; ++row) {
    column -= kLanes;
    const Vector incoming = load(column);
    const Vector q = top.quotient_digit(incoming);
    store(quotient + (rows - row) * kLanes, q);
    top.subtract(q, incoming);
  }
  ifma52::store_block(column, top.column);
  return top.out_of_range;
}

/// The same for more than kWindow digits; r is the lower half of t. quotient: kBlock digits.
inline Vector divide_long(Limb* t, Limb* quotient, const Divisors& divisors) {
  const std::size_t digits = divisors.digits;
  const Vector bias = broadcast(ifma52::kBias);
  for (std::size_t j = 0; j < digits; ++j) {
    set_vector(t + j * kLanes, _mm512_sub_epi64(vector_at(t + j * kLanes), bias));
  }
  Vector out_of_range = zero();
  for (std::size_t left = digits; left > 0;) {
    const std::size_t count = left < kBlock ? left : kBlock;
    ifma52::with_constant<1, kBlock>(count, [&](auto rows) {
      out_of_range = Avx512Words::either(
          out_of_range, divide_window<rows>(t + (left + digits - kWindow) * kLanes, quotient, divisors));
      ifma52::add_block<rows>(t + (left - rows) * kLanes, quotient, divisors.negated(), digits - kWindow);
    });
    left -= count;
  }
  return out_of_range;
}

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
  const Vector missing = _mm512_sub_epi64(Avx512Words::shift_left(above, kDigitBits), low);
  // The rest of V is E V, of which nothing is missing where v1 is 0 and E negative.
  const Vector v0 = floor_of((1 - 0x1p-49) * approximation * to_doubles(missing));
  v1 = _mm512_add_epi64(v1, Avx512Words::shift_right(v0, kDigitBits));
  return {v1, digit_of<Avx512Words>(v0)};
}

/// What products.hpp asks for.
struct Ifma : Avx512Words {
  static Reciprocal reciprocal_of(Vector d1, Vector d0) { return division52::reciprocal_of(d1, d0); }
  static void to_factors(Limb*, std::size_t) {}

  template <class Count>
  static void multiply(Limb* t, const Limb* x, const Limb* y, Count limbs) {
    if constexpr (std::is_same_v<Count, std::size_t>) {
      multiply_long(t, x, y, digits_for(limbs));
    } else {
      multiply_short<digits_for(Count::value)>(t, x, y);
    }
  }

  template <std::size_t N, class Count>
  static void divide(Limb* const (&t)[N], const Divisors (&divisors)[N], Vector (&out_of_range)[N],
                     Limb* quotient, Count) {
    if constexpr (std::is_same_v<Count, std::size_t>) {
      static_assert(N == 1);
      out_of_range[0] = divide_long(t[0], quotient, divisors[0]);
    } else if constexpr (N == 1) {
      out_of_range[0] = divide_short<digits_for(Count::value)>(t[0], divisors[0]);
    } else {
      divide_short_pair<digits_for(Count::value)>(t, divisors, out_of_range);
    }
  }
};

}  // namespace
}  // namespace manymod::division52
