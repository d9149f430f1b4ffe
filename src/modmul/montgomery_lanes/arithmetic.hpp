// SPDX-License-Identifier: Apache-2.0
// Montgomery arithmetic modulo a prime that is known at run time, on instances in the lanes of vectors, all
// of which have the same modulus: the functions of special_primes::LaneArithmetic, which explains `Arch`, for
// any odd p of at most most_bits(kDigits, w) bits. For inclusion in instruction-set files only.
//
// Values. 16 p <= W^L, and an element of magnitude m is below 2 m p (field/field.hpp). Its digits are exact.
//   (a b + q p) / W^L < (16 p^2 + W^L p) / W^L <= 2 p for a b <= 4 (2 p)^2 and q < W^L.
//
// Columns are two's complement: differences of digits are carried by arithmetic shifts, and as each number as
// a whole is not negative, its top digit is not. Magnitudes stay below 2^63. Split products, w = 52: a column
// sums up 2 L halves each of a b, c d and q p, besides digits of 4 p^2 and a carry. Whole products, w = 29: L
// each of a b, c d and q p, of which those of c d are subtracted.
//
// Aliasing: results may be operands. Timing: constant-time, but for the length of p.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/unaligned_vectors.hpp"
#include "core/limb.hpp"
#include "modmul/montgomery_lanes/constants.hpp"
#include "modmul/special_primes/digit_columns.hpp"

namespace manymod::montgomery_lanes {

template <std::size_t kCount, class Arch>
class LaneArithmetic : special_primes::DigitColumns<kCount, Arch> {
  using Columns = special_primes::DigitColumns<kCount, Arch>;
  using Vectors = UnalignedVectors<Arch>;

 public:
  static constexpr std::size_t kDigits = kCount;
  static constexpr unsigned w = Arch::kDigitBits;
  using typename Columns::Number;
  using typename Columns::Vector;
  using Uncarried = Number;
  using Unmasked = Number;
  static constexpr std::size_t kLanes = Arch::kLanes;

  /// Multiplications (vpmadd52 or vpmuludq) of mul and sqr.
  static constexpr std::size_t kPerProduct = Arch::kSplitProducts ? 2 : 1;
  static constexpr std::size_t kMulInstructions = kPerProduct * 2 * kDigits * kDigits + kDigits;
  static constexpr std::size_t kSqrInstructions =
      kPerProduct * (kDigits * (kDigits + 1) / 2 + kDigits * kDigits) + kDigits;

  /// The constants must outlive this object: those of kCount digits of w bits.
  explicit LaneArithmetic(const Constants& constants) : c_(constants) {}

  [[nodiscard]] const Constants& constants() const { return c_; }
  [[nodiscard]] std::size_t limbs() const { return c_.limbs; }

  /// Digit i of 2 p.
  [[nodiscard]] Limb bound(std::size_t i) const { return c_.multiple[2].digit[i]; }

  MANYMOD_INLINE void set_zero(Number& r) const {
    for_digits([&](auto i) MANYMOD_INLINE_STEP { r.digit[i.kValue] = Vector{}; });
  }
  MANYMOD_INLINE void set_one(Number& r) const { set(r, c_.one); }

  /// r = a b / W^L mod p, r < 2 p. On input: a b <= 16 p^2.
  MANYMOD_INLINE void mul(Number& r, const Number& a, const Number& b) const {
    if constexpr (kInlined) return multiply(r, a, b);
    if constexpr (!kInlined) return multiply_called(r, a, b);
  }
  /// r = a^2 / W^L mod p, r < 2 p. On input: a <= 4 p.
  MANYMOD_INLINE void sqr(Number& r, const Number& a) const {
    if constexpr (kInlined) return square(r, a);
    if constexpr (!kInlined) return square_called(r, a);
  }
  /// r = a b - c d mod p / W^L, r < 2 p. On input: a b <= 12 p^2, c d <= 4 p^2.
  static constexpr bool kHasMulSub = true;
  MANYMOD_INLINE void mul_sub(Number& r, const Number& a, const Number& b, const Number& c,
                              const Number& d) const {
    if constexpr (kInlined) return multiply_subtract(r, a, b, c, d);
    if constexpr (!kInlined) return multiply_subtract_called(r, a, b, c, d);
  }
  /// r = a b - c^2, likewise.
  MANYMOD_INLINE void mul_sub_sqr(Number& r, const Number& a, const Number& b, const Number& c) const {
    if constexpr (kInlined) return multiply_subtract_square(r, a, b, c);
    if constexpr (!kInlined) return multiply_subtract_square_called(r, a, b, c);
  }
  static constexpr bool kHasMulSmall = false;

  /// r = a + b. On input: a + b < 16 p.
  MANYMOD_INLINE void add(Number& r, const Number& a, const Number& b) const {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] = a.digit[i.kValue] + b.digit[i.kValue]; });
    carry(r, column);
  }
  /// r = a + kMultiple p - b. On input: b <= kMultiple p, a + kMultiple p < 16 p.
  template <unsigned kMultiple>
  MANYMOD_INLINE void sub(Number& r, const Number& a, const Number& b) const {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = a.digit[i.kValue] - b.digit[i.kValue] + multiple<kMultiple>(i.kValue);
    });
    carry(r, column);
  }
  /// r = kMultiple p - a. On input: a <= kMultiple p < 16 p.
  template <unsigned kMultiple>
  MANYMOD_INLINE void neg(Number& r, const Number& a) const {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = multiple<kMultiple>(i.kValue) - a.digit[i.kValue];
    });
    carry(r, column);
  }
  /// r = (a + (a mod 2) p) / 2. On input: a + p < 16 p.
  MANYMOD_INLINE void half(Number& r, const Number& a) const {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] = a.digit[i.kValue]; });
    halve(r, column, a.digit[0]);
  }
  /// r = 3 a / 2 mod p as (3 a + (a mod 2) p) / 2. On input: 3 a + p < 16 p.
  MANYMOD_INLINE void three_halves(Number& r, const Number& a) const {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = a.digit[i.kValue] + a.digit[i.kValue] + a.digit[i.kValue];
    });
    halve(r, column, a.digit[0]);
  }
  /// r = the sum of kFactor x mod p, r < 2 p, for x < 2 p. The negative factors add up to N <= 3, the others
  /// to P, 2 P + 2 N + 1 < 16.
  template <int... kFactor>
  MANYMOD_INLINE void combine(Number& r, const auto&... x) const {
    constexpr int kNegative = (0 + ... + (kFactor < 0 ? -kFactor : 0));
    constexpr int kPositive = (0 + ... + (kFactor > 0 ? kFactor : 0));
    static_assert(kNegative <= 3 && kPositive + kNegative <= 6);
    // The sum is at least p: estimates of its quotient by p are not negative.
    Vector column[kDigits + 1];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = multiple<2 * kNegative + 1>(i.kValue);
      (Columns::template add_multiple<kFactor>(column[i.kValue], x.digit[i.kValue]), ...);
    });
    reduce_columns(r, column);
  }
  /// r = a mod p, r < 2 p. On input: a < 16 p.
  MANYMOD_INLINE void reduce_weakly(Number& r, const Number& a) const {
    Vector column[kDigits + 1];
    for_digits([&](auto i)
                   MANYMOD_INLINE_STEP { column[i.kValue] = a.digit[i.kValue] + multiple<1>(i.kValue); });
    reduce_columns(r, column);
  }

  /// Lane by lane r = mask ? a : r.
  static MANYMOD_INLINE void cmov(Number& r, const Number& a, Vector mask) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue] = (a.digit[i.kValue] & mask) | (r.digit[i.kValue] & ~mask);
    });
  }
  /// All ones in the lanes where a is 0 or p, else 0.
  [[nodiscard]] MANYMOD_INLINE Vector is_zero(const Number& a) const {
    Vector of_zero{};
    Vector of_prime{};
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      of_zero |= a.digit[i.kValue];
      of_prime |= a.digit[i.kValue] ^ multiple<1>(i.kValue);
    });
    return reinterpret_cast<Vector>((of_zero == 0) | (of_prime == 0));
  }
  /// r = a mod p, r < p. On input: a < 2 p.
  MANYMOD_INLINE void canonical(Number& r, const Number& a) const {
    // a + W^L - p reaches W^L if and only if a >= p.
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = a.digit[i.kValue] + Columns::broadcast(c_.negated.digit[i.kValue]);
    });
    Number less;
    carry(less, column);
    const Vector reached = Vector{} - (less.digit[kDigits - 1] >> w);
    less.digit[kDigits - 1] &= kDigitMask;
    r = a;
    cmov(r, less, reached);
  }

  /// r = x W^L mod p, r < 2 p, for the numbers of limbs() limbs x < 2 p, limb i of lane l at x[i kLanes + l].
  /// x needs no alignment.
  MANYMOD_NOINLINE void from_limbs(Number& r, const Limb* x) const {
    Number residue, factor;
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      constexpr std::size_t kBit = i.kValue * w;
      constexpr std::size_t kLow = kBit / kLimbBits;
      constexpr unsigned kShift = kBit % kLimbBits;
      Vector& digit = residue.digit[i.kValue];
      digit = Vector{};
      if (kLow < limbs()) digit = Vectors::load(x, kLow) >> kShift;
      if constexpr (kShift + w > kLimbBits) {
        if (kLow + 1 < limbs()) digit |= Vectors::load(x, kLow + 1) << (kLimbBits - kShift);
      }
      digit &= kDigitMask;
    });
    set(factor, c_.squared_radix);
    mul(r, residue, factor);
  }
  /// The opposite: x < p. On input: a < 16 p.
  MANYMOD_NOINLINE void to_limbs(Limb* x, const Number& a) const {
    Number residue, one;
    for_digits([&](auto i)
                   MANYMOD_INLINE_STEP { one.digit[i.kValue] = Columns::broadcast(i.kValue == 0 ? 1 : 0); });
    mul(residue, a, one);
    canonical(residue, residue);
    for (std::size_t i = 0; i < limbs(); ++i) {
      const std::size_t bit = i * kLimbBits, first = bit / w;
      Vector word = residue.digit[first] >> bit % w;
      for (std::size_t j = first + 1; j < kDigits && j * w < bit + kLimbBits; ++j) {
        word |= residue.digit[j] << (j * w - bit);
      }
      Vectors::store(x, i, word);
    }
  }

 private:
  using Columns::for_digits;
  static constexpr Limb kDigitMask = (Limb{1} << w) - 1;
  static constexpr bool kSplit = Arch::kSplitProducts;
  static constexpr bool kInlined = kDigits <= Arch::kInlinedDigits;
  /// The vectors of a comparison: of signed words.
  using Signed = decltype(Vector{} == Vector{});

  static_assert(kDigits <= kMaxDigits);
  static_assert(kSplit ? 6 * kDigits + 4 < std::size_t{1} << (kLimbBits - 1 - w)
                       : 2 * kDigits + 2 < std::size_t{1} << (kLimbBits - 1 - 2 * w));

  const Constants& c_;

  template <int kMultiple>
  MANYMOD_INLINE Vector multiple(std::size_t i) const {
    return Columns::broadcast(c_.multiple[kMultiple].digit[i]);
  }
  static MANYMOD_INLINE void set(Number& r, const Digits& value) {
    for_digits([&](auto i)
                   MANYMOD_INLINE_STEP { r.digit[i.kValue] = Columns::broadcast(value.digit[i.kValue]); });
  }

  /// floor(x / 2^bits) of two's complement.
  static MANYMOD_INLINE Vector shift(Vector x, unsigned bits) {
    return reinterpret_cast<Vector>(reinterpret_cast<Signed>(x) >> static_cast<std::int64_t>(bits));
  }
  /// r = the number in the columns, 0 <= r < W^L; or that and a multiple of W^L in the top digit.
  static MANYMOD_INLINE void carry(Number& r, const Vector* column) {
    Vector sum = column[0];
    Columns::template unroll<1, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue - 1] = sum & kDigitMask;
      sum = column[i.kValue] + shift(sum, w);
    });
    r.digit[kDigits - 1] = sum;
  }
  /// r = half of the number in the columns, which is as odd as lowest is, or half of its sum with p.
  MANYMOD_INLINE void halve(Number& r, Vector* column, Vector lowest) const {
    const Vector odd = Vector{} - (lowest & 1);
    Number even;
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] += multiple<1>(i.kValue) & odd; });
    carry(even, column);
    Columns::template unroll<0, kDigits - 1>([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue] = even.digit[i.kValue] >> 1 | (even.digit[i.kValue + 1] & 1) << (w - 1);
    });
    r.digit[kDigits - 1] = even.digit[kDigits - 1] >> 1;
  }
  /// r = a mod p, r < 2 p, for p <= a < 17 p in columns that digits are missing to by less than 7 W.
  ///
  /// With u as Constants has it and P = floor(p / u) + 1 > 2^11, h = floor(a / u) + e, -16 <= e <= 0, once
  /// the slack is subtracted, and h > 0 as a / u >= p / u. q = floor(h reciprocal / 2^32) <= h / P <= a / p,
  /// and a - q p < a - (h / P - 1 - 2^-16) p <= p + a / P + 17 p / P + 2^-16 p < (1 + 34 / 2^11 + 2^-16) p <
  /// 2 p. Where u = 1, P = p and e = 0: a - q p < 2 p.
  MANYMOD_INLINE void reduce_columns(Number& r, Vector* column) const {
    column[kDigits] = Vector{};
    const Vector h = shift(column[c_.unit_digit], c_.unit_shift) +
                     (column[c_.unit_digit + 1] << static_cast<Limb>(w - c_.unit_shift)) -
                     Columns::broadcast(c_.slack);
    const Vector q = Arch::low_product(h, Columns::broadcast(c_.reciprocal)) >> kReciprocalBits;
    // a + q (W^L - p) is a - q p mod W^L.
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      const Vector digit = Columns::broadcast(c_.negated.digit[i.kValue]);
      if constexpr (kSplit) {
        Arch::multiply_add(column + i.kValue, q, digit);
      } else {
        column[i.kValue] += Arch::low_product(q, digit);
      }
    });
    carry(r, column);
    r.digit[kDigits - 1] &= kDigitMask;
  }

  /// Adds q p W^i, which makes column i divisible by W, and carries it.
  template <std::size_t kColumn>
  MANYMOD_INLINE void clear_column(Vector* t) const {
    Vector* const column = t + kColumn;
    Vector q =
        Arch::low_product(kSplit ? column[0] : column[0] & kDigitMask, Columns::broadcast(c_.quotient));
    if constexpr (!kSplit) q &= kDigitMask;
    for_digits([&](auto j)
                   MANYMOD_INLINE_STEP { Arch::multiply_add(column + j.kValue, q, multiple<1>(j.kValue)); });
    column[1] += shift(column[0], w);
  }
  /// r = (t + a b) / W^L mod p, r < 2 p. On input: 0 <= t + a b <= 16 p^2. Column j is complete after row j:
  /// clearing it overlaps with the products of the next row.
  MANYMOD_INLINE void reduce_with_product(Number& r, Vector* t, const Number& a, const Number& b) const {
    for_digits([&](auto j) MANYMOD_INLINE_STEP {
      for_digits([&](auto i) MANYMOD_INLINE_STEP {
        Arch::multiply_add(t + i.kValue + j.kValue, a.digit[i.kValue], b.digit[j.kValue]);
      });
      this->template clear_column<j.kValue>(t);
    });
    carry(r, t + kDigits);
  }
  MANYMOD_INLINE void reduce(Number& r, Vector* t) const {
    for_digits([&](auto j) MANYMOD_INLINE_STEP { this->template clear_column<j.kValue>(t); });
    carry(r, t + kDigits);
  }

  MANYMOD_INLINE void multiply(Number& r, const Number& a, const Number& b) const {
    Vector t[2 * kDigits];
    Columns::template start_columns<typename Columns::FromZero>(t);
    if constexpr (kSplit) {
      reduce_with_product(r, t, a, b);
    } else {
      Columns::add_product(t, a, b);
      reduce(r, t);
    }
  }
  MANYMOD_INLINE void square(Number& r, const Number& a) const {
    Vector t[2 * kDigits];
    Columns::template square_columns<typename Columns::FromZero>(t, a);
    reduce(r, t);
  }
  /// r = a b + 4 p^2 - s.
  MANYMOD_INLINE void multiply_less(Number& r, const Number& a, const Number& b, Vector* s) const {
    Columns::template unroll<0, 2 * kDigits>([&](auto c) MANYMOD_INLINE_STEP {
      s[c.kValue] =
          Columns::broadcast(c_.four_squares[c.kValue / kDigits].digit[c.kValue % kDigits]) - s[c.kValue];
    });
    if constexpr (kSplit) {
      reduce_with_product(r, s, a, b);
    } else {
      Columns::add_product(s, a, b);
      reduce(r, s);
    }
  }
  MANYMOD_INLINE void multiply_subtract(Number& r, const Number& a, const Number& b, const Number& c,
                                        const Number& d) const {
    Vector s[2 * kDigits];
    Columns::template start_columns<typename Columns::FromZero>(s);
    Columns::add_product(s, c, d);
    multiply_less(r, a, b, s);
  }
  MANYMOD_INLINE void multiply_subtract_square(Number& r, const Number& a, const Number& b,
                                               const Number& c) const {
    Vector s[2 * kDigits];
    Columns::template square_columns<typename Columns::FromZero>(s, c);
    multiply_less(r, a, b, s);
  }
  MANYMOD_NOINLINE void multiply_called(Number& r, const Number& a, const Number& b) const {
    multiply(r, a, b);
  }
  MANYMOD_NOINLINE void square_called(Number& r, const Number& a) const { square(r, a); }
  MANYMOD_NOINLINE void multiply_subtract_called(Number& r, const Number& a, const Number& b, const Number& c,
                                                 const Number& d) const {
    multiply_subtract(r, a, b, c, d);
  }
  MANYMOD_NOINLINE void multiply_subtract_square_called(Number& r, const Number& a, const Number& b,
                                                        const Number& c) const {
    multiply_subtract_square(r, a, b, c);
  }
};

}  // namespace manymod::montgomery_lanes
