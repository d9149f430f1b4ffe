// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo a special prime (primes.hpp) on instances in the lanes of vectors, for every digit width.
// For inclusion in instruction-set files only.
//
// A number is L vectors of digits below W = 2^w, one instance a lane. Products of digits are summed up in
// columns; column c has weight W^c. `Arch` is a policy of one instruction set, a type of an unnamed
// namespace, so that no instantiation is shared between files with different target flags. It has
//   Vector, kLanes, kDigitBits   a vector of kLanes words; w
//   kSplitProducts               whether a product is added to two columns: its low w bits to one, the rest
//                                to the next
//   kInlinedDigits               up to this L, products are expanded where they are called
//   multiply_add(column, x, y)   column[0] (and column[1]) += x y; of x and y it reads the low w bits if
//                                products are split, else 32 bits
//   multiply_add_low(sum, x, y)  where products are split: sum += the low w bits of x y
//   low_product(x, y)            x y for x, y < 2^26
//
// Columns stay below 2^64. Split products, w = 52: a column sums up 2 L halves of products a b and 2 D of
// products q p, D the digits of p that are multiplied, each below W, besides a bias below 3 W and a carry
// below 2^12. Whole products, w = 29: L + D of them, each below W^2 = 2^58, and bias and carry below 2^36.
// Folds double some columns. The static assertions at kColumnProducts check the sums.
//
// Values: p < 2^kBits, 16 p <= W^L, and an element of magnitude m is below 2 m p (field/field.hpp).
//   Montgomery: (a b + q p) / W^L < (16 p^2 + W^L p) / W^L <= 2 p for a b <= 4 (2 p)^2 and q < W^L.
//   Folds: the parts of the product above 2^kBits are replaced by the congruent ones below; see there.
//
// Forms (field/uncarried.hpp). Results of products are Numbers, Uncarried or Unmasked, which differ in their
// last carry alone; results of sums likewise. Factors are Numbers or Unmasked, and summands Numbers or
// Uncarried. Columns of the latter are below 2^kUncarriedBits, 2^58 or 2^59; those of sums, at most seven of
// them and of what is lent for a difference not to be negative, are below 2^62.
//
// Digits of p = 2^448 - 2^224 - 1. L is the least with 16 p <= W^L: 8 52 = 416 < 448 < 452 <= 9 52, and 15 29
// = 435 < 452 <= 16 29. For w = 52, p = -1 + (2^52 - 2^16) W^4 - W^5 + 2^32 W^8 has two digits to multiply,
// so that a product takes 2 9 (9 + 2) = 198 vpmadd52 and a square 126; for w = 29, 16 (16 + 2) = 288 and 168
// vpmuludq. With f = 2^224 and f^2 = f + 1, Karatsuba's (a + b f) (c + d f) (Hamburg 2015) on two times five
// digits of 45 bits, 5 45 = 225, would take 2 3 25 = 150 and 90, and no product for the reduction, but some
// 60 additions and shifts more (sums of halves, combinations of six parts, upper halves of products that are
// 2^7 too low): as much where an addition occupies the multiplier's ports as long as vpmadd52 does (Intel), 6
// to 8 % less where two do (Zen 4). That is not worth a second representation.
//
// Aliasing: results may be operands. Timing: constant-time; nothing depends on a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "arch/unaligned_vectors.hpp"
#include "core/limb.hpp"
#include "modmul/special_primes/constants.hpp"
#include "modmul/special_primes/lane_columns.hpp"

namespace manymod::special_primes {

template <class Prime, class Arch>
class LaneArithmetic : LaneColumns<Prime, Arch> {
  using Columns = LaneColumns<Prime, Arch>;
  using Vectors = UnalignedVectors<Arch>;

 public:
  using Columns::kUncarriedBits;
  using typename Columns::C;
  using typename Columns::Number;
  using typename Columns::Uncarried;
  using typename Columns::Unmasked;
  using typename Columns::Vector;
  static constexpr unsigned w = Arch::kDigitBits;
  static constexpr std::size_t kDigits = C::kDigits;
  static constexpr std::size_t kLanes = Arch::kLanes;

  /// Multiplications (vpmadd52 or vpmuludq) of mul and sqr.
  static constexpr std::size_t kReductionProducts =
      C::kReduction == Reduction::montgomery ? kDigits * (C::reduction_products())
      : C::kReduction == Reduction::fold     ? kDigits * C::used(C::folding(C::kSpareBits)) +
                                               (Arch::kSplitProducts ? 1 : 2) * C::used(C::folding(0))
                                         : 0;
  static constexpr std::size_t kPerProduct = Arch::kSplitProducts ? 2 : 1;
  static constexpr std::size_t kReductionInstructions =
      kPerProduct * kReductionProducts - (Columns::kShortTop ? 1 : 0);
  static constexpr std::size_t kMulInstructions = kPerProduct * kDigits * kDigits + kReductionInstructions;
  static constexpr std::size_t kSqrInstructions =
      kPerProduct * (kDigits * (kDigits + 1) / 2) + kReductionInstructions;

  static constexpr std::size_t limbs() { return Prime::kLimbs; }
  /// Elements stand for x 2^radix_bits() mod p.
  static constexpr unsigned radix_bits() { return C::kRadixBits; }
  /// The digits of 1.
  static constexpr typename C::Digits kOne = C::power_of_two(C::kRadixBits);
  static constexpr typename C::Digits kTwiceP = C::multiple(2);
  /// Digit i of 2 p.
  static constexpr Limb bound(std::size_t i) { return kTwiceP[i]; }

  static MANYMOD_INLINE void set_zero(auto& r) { set_constant(r, typename C::Digits{}); }
  static MANYMOD_INLINE void set_one(auto& r) { set_constant(r, kOne); }
  static MANYMOD_INLINE void set_constant(auto& r, const typename C::Digits& value) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP { r.digit[i.kValue] = broadcast(value[i.kValue]); });
  }

  /// r = a b / 2^kRadixBits mod p, r < 2 p. On input: a b <= 16 p^2.
  static MANYMOD_INLINE void mul(auto& r, const auto& a, const auto& b) {
    if constexpr (kInlined) return multiply(r, a, b);
    if constexpr (!kInlined) return multiply_called(r, a, b);
  }
  /// r = a^2 / 2^kRadixBits mod p, r < 2 p. On input: a <= 4 p.
  static MANYMOD_INLINE void sqr(auto& r, const auto& a) {
    if constexpr (kInlined) return square(r, a);
    if constexpr (!kInlined) return square_called(r, a);
  }

  /// r = a + b. On input: a + b < 16 p.
  static MANYMOD_INLINE void add(auto& r, const auto& a, const auto& b) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] = a.digit[i.kValue] + b.digit[i.kValue]; });
    carry(r, column);
  }
  /// r = a + kMultiple p - b. On input: b <= kMultiple p, a + kMultiple p < 16 p.
  template <unsigned kMultiple>
  static MANYMOD_INLINE void sub(auto& r, const auto& a, const auto& b) {
    constexpr bool kCarried = std::is_same_v<std::remove_cvref_t<decltype(b)>, Number>;
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] =
          a.digit[i.kValue] - b.digit[i.kValue] +
          broadcast(kCarried ? kLentMultiple<kMultiple>[i.kValue] : kLentToUncarried<kMultiple>[i.kValue]);
    });
    carry(r, column);
  }
  /// r = kMultiple p - a. On input: a <= kMultiple p < 16 p.
  template <unsigned kMultiple>
  static MANYMOD_INLINE void neg(Number& r, const Number& a) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = broadcast(kLentMultiple<kMultiple>[i.kValue]) - a.digit[i.kValue];
    });
    carry(r, column);
  }
  /// r = (a + (a mod 2) p) / 2. On input: a + p < 16 p.
  static MANYMOD_INLINE void half(Number& r, const Number& a) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] = a.digit[i.kValue]; });
    halve(r, column, a.digit[0]);
  }
  /// r = 3 a / 2 mod p as (3 a + (a mod 2) p) / 2. On input: 3 a + p < 16 p.
  static MANYMOD_INLINE void three_halves(Number& r, const auto& a) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = a.digit[i.kValue] + a.digit[i.kValue] + a.digit[i.kValue];
    });
    halve(r, column, a.digit[0]);
  }
  /// r = the sum of kFactor x mod p, r < 2 p, for x < 2 p. The negative factors add up to N, the others to P,
  /// 2 P + 2 N + 2 <= 14.
  template <int... kFactor>
  static MANYMOD_INLINE void combine(auto& r, const auto&... x) {
    constexpr int kNegative = (0 + ... + (kFactor < 0 ? -kFactor : 0));
    constexpr int kPositive = (0 + ... + (kFactor > 0 ? kFactor : 0));
    static_assert(2 * kPositive + 2 * kNegative + 2 <= 14);
    constexpr bool kCarried = (std::is_same_v<std::remove_cvref_t<decltype(x)>, Number> && ...);
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = broadcast(kLentSum < kNegative, kCarried ? 1 : Columns::kUncarried > [i.kValue]);
      (Columns::template add_multiple<kFactor>(column[i.kValue], x.digit[i.kValue]), ...);
    });
    // Columns are below (P + N + 1) W <= 6 W, those of uncarried numbers below 6 2^kUncarriedBits. The top is
    // split off with those below it not carried, which adds at most 7 W^kTopDigit to r unless the top digit
    // of p has few bits, or the columns more: then one is, and those below that one add at most
    // 6 2^(kUncarriedBits - w) W^(kTopDigit - 1).
    if constexpr (C::kTopShift < 6 || !kCarried)
      Columns::template carry_through<C::kTopDigit - 1, C::kTopDigit>(column);
    reduce_columns(r, column);
  }
  /// r = a b - c d mod p / 2^kRadixBits, r < 2 p. On input: a b <= 12 p^2, c d <= 4 p^2.
  static constexpr bool kHasMulSub = C::kReduction != Reduction::shifted_fold;
  static MANYMOD_INLINE void mul_sub(Number& r, const auto& a, const auto& b, const auto& c, const auto& d) {
    if constexpr (kInlined) return multiply_subtract(r, a, b, c, d);
    if constexpr (!kInlined) return multiply_subtract_called(r, a, b, c, d);
  }
  /// r = a b - c^2, likewise.
  static MANYMOD_INLINE void mul_sub_sqr(Number& r, const auto& a, const auto& b, const auto& c) {
    if constexpr (kInlined) return multiply_subtract_square(r, a, b, c);
    if constexpr (!kInlined) return multiply_subtract_square_called(r, a, b, c);
  }
  /// r = k a mod p, r < 2 p. On input: a <= 4 p, k < 2^20.
  static constexpr bool kHasMulSmall =
      C::kReduction == Reduction::fold || (C::kReduction == Reduction::montgomery && !Columns::kLends);
  static MANYMOD_INLINE void mul_small(auto& r, const auto& a, Limb k) {
    Vector column[kDigits + 2];
    Columns::template unroll<0, kDigits + 2>([&](auto i)
                                                 MANYMOD_INLINE_STEP { column[i.kValue] = Vector{}; });
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      Arch::multiply_add(column + i.kValue, a.digit[i.kValue], broadcast(k));
    });
    if constexpr (C::kReduction == Reduction::fold) fold_top(r, column);
    if constexpr (C::kReduction != Reduction::fold) Columns::replace_top(r, column);
  }
  /// r = a mod p, r < 2^kBits + 16 (2^kBits - p) < 2 p. On input: a < 16 p.
  static MANYMOD_INLINE void reduce_weakly(auto& r, const auto& a) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] = a.digit[i.kValue]; });
    reduce_columns(r, column);
  }

  /// r = a, carried or not.
  static MANYMOD_INLINE void convert(auto& r, const auto& a) { carry(r, a.digit); }
  /// Lane by lane r = mask ? a : r.
  template <class N>
  static MANYMOD_INLINE void cmov(N& r, const N& a, Vector mask) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue] = (a.digit[i.kValue] & mask) | (r.digit[i.kValue] & ~mask);
    });
  }
  /// All ones in the lanes where a is 0 or p, else 0.
  static MANYMOD_INLINE Vector is_zero(const Number& a) {
    Vector of_zero{};
    Vector of_prime{};
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      of_zero |= a.digit[i.kValue];
      of_prime |= a.digit[i.kValue] ^ broadcast(kPrime[i.kValue]);
    });
    return reinterpret_cast<Vector>((of_zero == 0) | (of_prime == 0));
  }
  /// r = a mod p, r < p. On input: a < 16 p.
  static MANYMOD_INLINE void canonical(Number& r, const Number& a) {
    Number low;
    reduce_weakly(low, a);
    // low + W^L - p reaches W^L if and only if low >= p.
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = low.digit[i.kValue] + broadcast(kNegated[i.kValue]);
    });
    Number less;
    carry(less, column);
    const Vector reached = Vector{} - (less.digit[kDigits - 1] >> w);
    less.digit[kDigits - 1] &= C::kMask;
    cmov(low, less, reached);
    r = low;
  }

  /// r = the number of kLimbs limbs x, limb i of lane l at x[i kLanes + l], mod p, r < 2 p. x needs no
  /// alignment.
  static MANYMOD_INLINE void load(Number& r, const Limb* x) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      constexpr std::size_t kBit = i.kValue * w;
      constexpr std::size_t kLow = kBit / kLimbBits;
      constexpr unsigned kShift = kBit % kLimbBits;
      column[i.kValue] = Vector{};
      if constexpr (kLow < Prime::kLimbs) column[i.kValue] = Vectors::load(x, kLow) >> kShift;
      if constexpr (kShift + w > kLimbBits && kLow + 1 < Prime::kLimbs)
        column[i.kValue] |= Vectors::load(x, kLow + 1) << (kLimbBits - kShift);
      column[i.kValue] &= C::kMask;
    });
    if constexpr (Prime::kBits % kLimbBits != 0) {
      // The bits from 2^kBits on, times 2^kBits mod p, which is one digit: below 2^57 in all.
      const Vector top = Vectors::load(x, Prime::kLimbs - 1) >> Prime::kBits % kLimbBits;
      split_top(column);
      column[0] += kTopFold[0] == 1 ? top : Arch::low_product(top, broadcast(kTopFold[0]));
    }
    carry(r, column);
  }
  /// x = a, laid out as in load. On input: a < p.
  static MANYMOD_INLINE void store(Limb* x, const Number& a) {
    Columns::template unroll<0, Prime::kLimbs>([&](auto l) MANYMOD_INLINE_STEP {
      constexpr std::size_t kBit = l.kValue * kLimbBits;
      Vector word = a.digit[kBit / w] >> kBit % w;
      Columns::template unroll<kBit / w + 1, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
        if constexpr (i.kValue * w < kBit + kLimbBits) word |= a.digit[i.kValue] << (i.kValue * w - kBit);
      });
      Vectors::store(x, l.kValue, word);
    });
  }

  /// From numbers of limbs, as load has them, to elements below 2 p, and back, x < p. On input: a < 16 p.
  static MANYMOD_INLINE void from_limbs(Number& r, const Limb* x) {
    load(r, x);
    from_residue(r, r);
  }
  static MANYMOD_INLINE void to_limbs(Limb* x, const Number& a) {
    Number residue;
    to_residue(residue, a);
    canonical(residue, residue);
    store(x, residue);
  }

 private:
  /// From a residue to the number that stands for it, and back; both results below 2 p.
  static MANYMOD_INLINE void from_residue(Number& r, const Number& a) {
    if constexpr (C::kRadixBits == 0) {
      r = a;
    } else {
      Number factor;
      set_constant(factor, kSquaredRadix);
      mul(r, a, factor);
    }
  }
  static MANYMOD_INLINE void to_residue(Number& r, const Number& a) {
    if constexpr (C::kRadixBits == 0) {
      r = a;
    } else {
      Number one;
      set_constant(one, typename C::Digits{1});
      mul(r, a, one);
    }
  }

  using Columns::broadcast;
  using Columns::carry;
  using Columns::fold_top;
  using Columns::for_digits;
  using Columns::halve;
  using Columns::kInterleaved;
  using Columns::kPrime;
  using Columns::kSplit;
  using Columns::kTopFold;
  using Columns::product_columns;
  using Columns::reduce;
  using Columns::reduce_columns;
  using Columns::reduce_with_product;
  using Columns::reduce_with_square;
  using Columns::split_top;
  using Columns::starting_value;

  static constexpr bool kInlined = kDigits <= Arch::kInlinedDigits;

  static constexpr typename C::Digits kNegated = C::negated_prime();
  static constexpr typename C::Digits kSquaredRadix = C::power_of_two(2 * C::kRadixBits);
  template <unsigned kMultiple>
  static constexpr typename C::Digits kLentMultiple = C::lent_multiple(kMultiple);
  template <unsigned kMultiple>
  static constexpr typename C::Digits kLentToUncarried = C::lent_multiple(kMultiple, Columns::kUncarried);
  /// 2 p more than is subtracted, for the top column to be positive without the carry of those below it.
  template <int kNegative, Limb kLent>
  static constexpr typename C::Digits kLentSum = C::lent_multiple(2 * kNegative + 2, kLent* kNegative);
  /// kSquares p^2 less a product, whose columns are sums of so many.
  // Folds take the upper columns for a number of their own, which must not be negative where they have lent
  // to the lower ones: a b + 8 p^2 - s is at least 4 p^2, far above what they lend.
  static constexpr Limb kSquares = C::kReduction == Reduction::fold ? 8 : 4;
  static constexpr auto kLentSquare = C::lent_square(kSquares, (kSplit ? Limb{2} : Limb{1} << w) * kDigits);

  // Every column, for products and for squares, whose doubled cross products count twice.
  static constexpr unsigned kProductBits = kSplit ? w : 2 * w;
  static constexpr std::size_t kColumnProducts =
      (C::kReduction == Reduction::shifted_fold ? 2 : 1) * (kSplit ? 2 : 1) * kDigits +
      (C::kReduction == Reduction::montgomery ? (kSplit ? 2 : 1) * C::reduction_products() : 0);
  /// Bias, carry and, in folds, products by the one or two digits of W^L mod p and 2^kBits mod p.
  static constexpr std::size_t kColumnRest = kSplit ? 8 : 2;
  static_assert(kColumnProducts + kColumnRest < std::size_t{1} << (kLimbBits - kProductBits));
  static_assert(!kSplit || kColumnProducts + kColumnRest < Columns::kUncarried);
  static_assert(C::kReduction != Reduction::montgomery || C::quotient_shift() < w);
  // mul_sub adds 4 p^2 less a product to that.
  static_assert(!kHasMulSub || kColumnProducts + (kSplit ? 2 : 1) * kDigits + 1 + kColumnRest <
                                   std::size_t{1} << (kLimbBits - kProductBits));

  /// r = a b + kSquares p^2 - s, reduced.
  static MANYMOD_INLINE void multiply_less(Number& r, const auto& a, const auto& b, const Vector* s) {
    Vector t[2 * kDigits];
    if constexpr (kInterleaved) {
      Columns::template unroll<0, 2 * kDigits>([&](auto c) MANYMOD_INLINE_STEP {
        t[c.kValue] = broadcast(kLentSquare[c.kValue] + starting_value(c.kValue)) - s[c.kValue];
      });
      reduce_with_product(r, t, a, b);
    } else {
      product_columns(t, a, b);
      Columns::template unroll<0, 2 * kDigits>(
          [&](auto c) MANYMOD_INLINE_STEP { t[c.kValue] += broadcast(kLentSquare[c.kValue]) - s[c.kValue]; });
      reduce(r, t);
    }
  }
  static MANYMOD_INLINE void multiply_subtract(Number& r, const auto& a, const auto& b, const auto& c,
                                               const auto& d) {
    Vector s[2 * kDigits];
    Columns::template product_columns<typename Columns::FromZero>(s, c, d);
    multiply_less(r, a, b, s);
  }
  static MANYMOD_INLINE void multiply_subtract_square(Number& r, const auto& a, const auto& b,
                                                      const auto& c) {
    Vector s[2 * kDigits];
    Columns::template square_columns<typename Columns::FromZero>(s, c);
    multiply_less(r, a, b, s);
  }
  static MANYMOD_NOINLINE void multiply_subtract_called(Number& r, const auto& a, const auto& b,
                                                        const auto& c, const auto& d) {
    multiply_subtract(r, a, b, c, d);
  }
  static MANYMOD_NOINLINE void multiply_subtract_square_called(Number& r, const auto& a, const auto& b,
                                                               const auto& c) {
    multiply_subtract_square(r, a, b, c);
  }
  static MANYMOD_INLINE void multiply(auto& r, const auto& a, const auto& b) {
    Vector t[2 * kDigits];
    if constexpr (kInterleaved) {
      Columns::template start_columns<typename Columns::FromBias>(t);
      reduce_with_product(r, t, a, b);
    } else {
      product_columns(t, a, b);
      reduce(r, t);
    }
  }
  static MANYMOD_INLINE void square(auto& r, const auto& a) {
    Vector t[2 * kDigits];
    if constexpr (kInterleaved) {
      reduce_with_square(r, t, a);
    } else {
      Columns::template square_columns<typename Columns::FromBias>(t, a);
      reduce(r, t);
    }
  }
  static MANYMOD_NOINLINE void multiply_called(auto& r, const auto& a, const auto& b) { multiply(r, a, b); }
  static MANYMOD_NOINLINE void square_called(auto& r, const auto& a) { square(r, a); }
};

}  // namespace manymod::special_primes
