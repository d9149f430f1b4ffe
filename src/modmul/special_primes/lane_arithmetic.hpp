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
// Aliasing: results may be operands. Timing: constant-time; nothing depends on a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/limb.hpp"
#include "modmul/special_primes/constants.hpp"

#define MANYMOD_INLINE inline __attribute__((always_inline))
#define MANYMOD_NOINLINE __attribute__((noinline))
#define MANYMOD_INLINE_STEP __attribute__((always_inline))

namespace manymod::special_primes {

template <class Prime, class Arch>
class LaneArithmetic {
 public:
  using Vector = typename Arch::Vector;
  static constexpr unsigned w = Arch::kDigitBits;
  using C = Constants<Prime, w>;
  static constexpr std::size_t kLanes = Arch::kLanes;
  static constexpr std::size_t kDigits = C::kDigits;

  /// Multiplications (vpmadd52 or vpmuludq) of mul and sqr.
  static constexpr std::size_t kReductionProducts =
      C::kReduction == Reduction::montgomery ? kDigits * (C::reduction_products())
      : C::kReduction == Reduction::fold     ? kDigits * C::used(C::folding(C::kSpareBits)) +
                                               (Arch::kSplitProducts ? 1 : 2) * C::used(C::folding(0))
                                         : 0;
  static constexpr std::size_t kPerProduct = Arch::kSplitProducts ? 2 : 1;
  static constexpr std::size_t kMulInstructions = kPerProduct * (kDigits * kDigits + kReductionProducts);
  static constexpr std::size_t kSqrInstructions =
      kPerProduct * (kDigits * (kDigits + 1) / 2 + kReductionProducts);

  /// Exact digits.
  struct Number {
    Vector digit[kDigits];
  };

  static MANYMOD_INLINE void set_constant(Number& r, const typename C::Digits& value) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP { r.digit[i.kValue] = broadcast(value[i.kValue]); });
  }

  /// r = a b / 2^kRadixBits mod p, r < 2 p. On input: a b <= 16 p^2.
  static MANYMOD_INLINE void mul(Number& r, const Number& a, const Number& b) {
    if constexpr (kInlined) return multiply(r, a, b);
    if constexpr (!kInlined) return multiply_called(r, a, b);
  }
  /// r = a^2 / 2^kRadixBits mod p, r < 2 p. On input: a <= 4 p.
  static MANYMOD_INLINE void sqr(Number& r, const Number& a) {
    if constexpr (kInlined) return square(r, a);
    if constexpr (!kInlined) return square_called(r, a);
  }

  /// r = a + b. On input: a + b < 16 p.
  static MANYMOD_INLINE void add(Number& r, const Number& a, const Number& b) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] = a.digit[i.kValue] + b.digit[i.kValue]; });
    carry(r, column);
  }
  /// r = a + kMultiple p - b. On input: b <= kMultiple p, a + kMultiple p < 16 p.
  template <unsigned kMultiple>
  static MANYMOD_INLINE void sub(Number& r, const Number& a, const Number& b) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] =
          a.digit[i.kValue] - b.digit[i.kValue] + broadcast(kLentMultiple<kMultiple>[i.kValue]);
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
  static MANYMOD_INLINE void three_halves(Number& r, const Number& a) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = a.digit[i.kValue] + a.digit[i.kValue] + a.digit[i.kValue];
    });
    halve(r, column, a.digit[0]);
  }
  /// r = the sum of kFactor x mod p, r < 2 p, for x < 2 p. The negative factors add up to N, the others to P,
  /// 2 P + 2 N + 2 <= 14.
  template <int... kFactor>
  static MANYMOD_INLINE void combine(Number& r, const auto&... x) {
    constexpr int kNegative = (0 + ... + (kFactor < 0 ? -kFactor : 0));
    constexpr int kPositive = (0 + ... + (kFactor > 0 ? kFactor : 0));
    static_assert(2 * kPositive + 2 * kNegative + 2 <= 14);
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] = broadcast(kLentSum<kNegative>[i.kValue]);
      (add_multiple<kFactor>(column[i.kValue], x.digit[i.kValue]), ...);
    });
    // Columns are below (P + N + 1) W <= 6 W. The top is split off with those below it not carried, which
    // adds at most 7 W^kTopDigit to r unless the top digit of p has few bits: then one is.
    if constexpr (C::kTopShift < 6) carry_through<C::kTopDigit - 1, C::kTopDigit>(column);
    reduce_columns(r, column);
  }
  /// r = a b - c d mod p / 2^kRadixBits, r < 2 p. On input: a b <= 12 p^2, c d <= 4 p^2.
  static constexpr bool kHasMulSub = C::kReduction != Reduction::shifted_fold;
  static MANYMOD_INLINE void mul_sub(Number& r, const Number& a, const Number& b, const Number& c,
                                     const Number& d) {
    if constexpr (kInlined) return multiply_subtract(r, a, b, c, d);
    if constexpr (!kInlined) return multiply_subtract_called(r, a, b, c, d);
  }
  /// r = a b - c^2, likewise.
  static MANYMOD_INLINE void mul_sub_sqr(Number& r, const Number& a, const Number& b, const Number& c) {
    if constexpr (kInlined) return multiply_subtract_square(r, a, b, c);
    if constexpr (!kInlined) return multiply_subtract_square_called(r, a, b, c);
  }
  /// r = k a mod p, r < 2 p. On input: a <= 4 p, k < 2^20.
  static constexpr bool kHasMulSmall = C::kReduction == Reduction::fold;
  static MANYMOD_INLINE void mul_small(Number& r, const Number& a, Limb k) {
    Vector column[kDigits + 2];
    unroll<0, kDigits + 2>([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] = Vector{}; });
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      Arch::multiply_add(column + i.kValue, a.digit[i.kValue], broadcast(k));
    });
    fold_top(r, column);
  }
  /// r = a mod p, r < 2^kBits + 16 (2^kBits - p) < 2 p. On input: a < 16 p.
  static MANYMOD_INLINE void reduce_weakly(Number& r, const Number& a) {
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] = a.digit[i.kValue]; });
    reduce_columns(r, column);
  }

  /// Lane by lane r = mask ? a : r.
  static MANYMOD_INLINE void cmov(Number& r, const Number& a, Vector mask) {
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
      if constexpr (kLow < Prime::kLimbs) column[i.kValue] = limb(x, kLow) >> kShift;
      if constexpr (kShift + w > kLimbBits && kLow + 1 < Prime::kLimbs)
        column[i.kValue] |= limb(x, kLow + 1) << (kLimbBits - kShift);
      column[i.kValue] &= C::kMask;
    });
    if constexpr (Prime::kBits % kLimbBits != 0) {
      // The bits from 2^kBits on, times 2^kBits mod p, which is one digit: below 2^57 in all.
      const Vector top = limb(x, Prime::kLimbs - 1) >> Prime::kBits % kLimbBits;
      split_top(column);
      column[0] += kTopFold[0] == 1 ? top : Arch::low_product(top, broadcast(kTopFold[0]));
    }
    carry(r, column);
  }
  /// x = a, laid out as in load. On input: a < p.
  static MANYMOD_INLINE void store(Limb* x, const Number& a) {
    unroll<0, Prime::kLimbs>([&](auto l) MANYMOD_INLINE_STEP {
      constexpr std::size_t kBit = l.kValue * kLimbBits;
      Vector word = a.digit[kBit / w] >> kBit % w;
      unroll<kBit / w + 1, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
        if constexpr (i.kValue * w < kBit + kLimbBits) word |= a.digit[i.kValue] << (i.kValue * w - kBit);
      });
      reinterpret_cast<Unaligned*>(x)[l.kValue].vector = word;
    });
  }

  /// From a residue to the number that stands for it, and back; both results below 2 p.
  static MANYMOD_INLINE void enter(Number& r, const Number& a) {
    if constexpr (C::kRadixBits == 0) {
      r = a;
    } else {
      Number factor;
      set_constant(factor, kSquaredRadix);
      mul(r, a, factor);
    }
  }
  static MANYMOD_INLINE void leave(Number& r, const Number& a) {
    if constexpr (C::kRadixBits == 0) {
      r = a;
    } else {
      Number one;
      set_constant(one, typename C::Digits{1});
      mul(r, a, one);
    }
  }

 private:
  static constexpr bool kInlined = kDigits <= Arch::kInlinedDigits;
  static constexpr bool kSplit = Arch::kSplitProducts;
  static constexpr bool kInterleaved = kSplit && C::kReduction == Reduction::montgomery && kDigits > 5;

  // Members rather than local constants, which g++ 12 takes for unused where only lambdas use them.
  static constexpr typename C::Digits kPrime = C::multiple(1);
  static constexpr typename C::Digits kNegated = C::negated_prime();
  static constexpr typename C::Digits kSquaredRadix = C::power_of_two(2 * C::kRadixBits);
  template <unsigned kMultiple>
  static constexpr typename C::Digits kLentMultiple = C::lent_multiple(kMultiple);
  /// 2 p more than is subtracted, for the top column to be positive without the carry of those below it.
  template <int kNegative>
  static constexpr typename C::Digits kLentSum = C::lent_multiple(2 * kNegative + 2, kNegative);
  /// kSquares p^2 less a product, whose columns are sums of so many.
  // Folds take the upper columns for a number of their own, which must not be negative where they have lent
  // to the lower ones: a b + 8 p^2 - s is at least 4 p^2, far above what they lend.
  static constexpr Limb kSquares = C::kReduction == Reduction::fold ? 8 : 4;
  static constexpr auto kLentSquare = C::lent_square(kSquares, (kSplit ? Limb{2} : Limb{1} << w) * kDigits);
  static constexpr auto kSignedPrime = C::signed_prime();
  static constexpr auto kFold = C::folding(C::kSpareBits);
  static constexpr auto kTopFold = C::folding(0);

  struct __attribute__((packed, may_alias)) Unaligned {
    Vector vector;
  };

  // Every column, for products and for squares, whose doubled cross products count twice.
  static constexpr unsigned kProductBits = kSplit ? w : 2 * w;
  static constexpr std::size_t kColumnProducts =
      (C::kReduction == Reduction::shifted_fold ? 2 : 1) * (kSplit ? 2 : 1) * kDigits +
      (C::kReduction == Reduction::montgomery ? (kSplit ? 2 : 1) * C::reduction_products() : 0);
  /// Bias, carry and, in folds, products by the one or two digits of W^L mod p and 2^kBits mod p.
  static constexpr std::size_t kColumnRest = kSplit ? 8 : 2;
  static_assert(kColumnProducts + kColumnRest < std::size_t{1} << (kLimbBits - kProductBits));
  static_assert(C::kReduction != Reduction::montgomery || C::quotient_shift() < w);
  // mul_sub adds 4 p^2 less a product to that.
  static_assert(!kHasMulSub || kColumnProducts + (kSplit ? 2 : 1) * kDigits + 1 + kColumnRest <
                                   std::size_t{1} << (kLimbBits - kProductBits));

  /// What reduce_weakly lends, and the lowest digit that it lends to; L where no term of p but the first is
  /// positive.
  static constexpr Limb kLent = 32;
  static constexpr std::size_t lowest_lent() {
    std::size_t lowest = kDigits;
    for (std::size_t i = 1; i < std::size(Prime::kTerms); ++i) {
      if (Prime::kTerms[i].factor > 0) lowest = Prime::kTerms[i].exponent / w;
    }
    return lowest;
  }
  static constexpr std::size_t kLowestLent = lowest_lent();
  static_assert(kLowestLent + 1 != kDigits);

  template <std::size_t Value>
  struct Index {
    static constexpr std::size_t kValue = Value;
  };
  /// step(Index<Begin>), .., step(Index<End - 1>), unrolled at compile time.
  template <std::size_t Begin, std::size_t End, class Step>
  static MANYMOD_INLINE void unroll(const Step& step) {
    if constexpr (Begin < End) {
      [&]<std::size_t... kOffset>(std::index_sequence<kOffset...>) MANYMOD_INLINE_STEP {
        (step(Index<Begin + kOffset>{}), ...);
      }(std::make_index_sequence<End - Begin>{});
    }
  }
  template <class Step>
  static MANYMOD_INLINE void for_digits(const Step& step) {
    unroll<0, kDigits>(step);
  }

  static MANYMOD_INLINE Vector broadcast(Limb x) { return Vector{} + x; }
  static MANYMOD_INLINE Vector limb(const Limb* x, std::size_t i) {
    return reinterpret_cast<const Unaligned*>(x)[i].vector;
  }

  /// r = the number in the columns, which is below W^L, or below 2 W^L: then its top digit exceeds W.
  static MANYMOD_INLINE void carry(Number& r, const Vector* column) {
    Vector sum = column[0];
    unroll<1, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue - 1] = sum & C::kMask;
      sum = column[i.kValue] + (sum >> w);
    });
    r.digit[kDigits - 1] = sum;
  }
  /// r = half of the number in the columns, which is as odd as lowest is, or half of its sum with p.
  static MANYMOD_INLINE void halve(Number& r, Vector* column, Vector lowest) {
    const Vector odd = Vector{} - (lowest & 1);
    Number even;
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] += broadcast(kPrime[i.kValue]) & odd; });
    carry(even, column);
    unroll<0, kDigits - 1>([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue] = even.digit[i.kValue] >> 1 | (even.digit[i.kValue + 1] & 1) << (w - 1);
    });
    r.digit[kDigits - 1] = even.digit[kDigits - 1] >> 1;
  }
  /// r = the number in the columns mod p, as reduce_weakly.
  ///
  /// With t = floor(a / 2^kBits) < 16, r = a mod 2^kBits - t (p - 2^kBits), t times few powers of two, each
  /// of which is below 16 W in its digit. Where some are subtracted, 32 W is lent to each digit from the
  /// lowest such one on, and taken back from the next.
  static MANYMOD_INLINE void reduce_columns(Number& r, Vector* column) {
    const Vector t = split_top(column);
    unroll<kLowestLent, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
      constexpr Limb kTaken = i.kValue == kLowestLent ? 0 : kLent;
      constexpr Limb kGiven = i.kValue + 1 == kDigits ? 0 : kLent << w;
      column[i.kValue] += broadcast(kGiven - kTaken);
    });
    unroll<1, std::size(Prime::kTerms)>([&](auto index) MANYMOD_INLINE_STEP {
      constexpr primes::Term kTerm = Prime::kTerms[index.kValue];
      constexpr Limb kFactor = static_cast<Limb>(kTerm.factor < 0 ? -kTerm.factor : kTerm.factor);
      const Vector multiple = kFactor == 1 ? t : Arch::low_product(t, broadcast(kFactor));
      const Vector part = multiple << kTerm.exponent % w;
      Vector& at = column[kTerm.exponent / w];
      at = kTerm.factor < 0 ? at + part : at - part;
    });
    carry(r, column);
  }
  /// Carries through columns [Begin, End), whose digits become exact, into column End. Without kExact, only
  /// their low w bits are right, which is all that split products read.
  template <std::size_t Begin, std::size_t End, bool kExact = true>
  static MANYMOD_INLINE void carry_through(Vector* column) {
    unroll<Begin, End>([&](auto c) MANYMOD_INLINE_STEP {
      column[c.kValue + 1] += column[c.kValue] >> w;
      if constexpr (kExact) column[c.kValue] &= C::kMask;
    });
  }
  /// Takes the bits from 2^kBits on off a number in L columns and returns them as a number. On input: only
  /// the columns from kTopDigit on matter to it.
  static MANYMOD_INLINE Vector split_top(Vector* column) {
    Vector& digit = column[C::kTopDigit];
    Vector top = digit >> C::kTopShift;
    digit &= (Limb{1} << C::kTopShift) - 1;
    if constexpr (C::kTopDigit + 1 < kDigits) {
      static_assert(C::kTopDigit + 2 == kDigits);
      top += column[kDigits - 1] << (w - C::kTopShift);
      column[kDigits - 1] = Vector{};
    }
    return top;
  }

  /// t[0 .. 2 L) = a b, from the bias on, or without it.
  template <bool kBiased = true>
  static MANYMOD_INLINE void product_columns(Vector* t, const Number& a, const Number& b) {
    start_columns<kBiased>(t);
    if constexpr (kSplit) {
      // By rows, whose products do not depend on each other.
      for_digits([&](auto j) MANYMOD_INLINE_STEP {
        for_digits([&](auto i) MANYMOD_INLINE_STEP {
          Arch::multiply_add(t + i.kValue + j.kValue, a.digit[i.kValue], b.digit[j.kValue]);
        });
      });
    } else {
      // By columns: one sum at a time needs few registers.
      unroll<0, 2 * kDigits - 1>([&](auto c) MANYMOD_INLINE_STEP {
        constexpr std::size_t kFirst = c.kValue < kDigits ? 0 : c.kValue - kDigits + 1;
        unroll<kFirst, c.kValue - kFirst + 1>([&](auto i) MANYMOD_INLINE_STEP {
          Arch::multiply_add(t + c.kValue, a.digit[i.kValue], b.digit[c.kValue - i.kValue]);
        });
      });
    }
  }
  /// t[0 .. 2 L) = a^2, likewise: products a_i a_j, i < j, are formed once.
  template <bool kBiased = true>
  static MANYMOD_INLINE void square_columns(Vector* t, const Number& a) {
    if constexpr (kSplit) {
      unroll<0, 2 * kDigits>([&](auto c) MANYMOD_INLINE_STEP { t[c.kValue] = Vector{}; });
      for_digits([&](auto i) MANYMOD_INLINE_STEP {
        unroll<i.kValue + 1, kDigits>([&](auto j) MANYMOD_INLINE_STEP {
          Arch::multiply_add(t + i.kValue + j.kValue, a.digit[i.kValue], a.digit[j.kValue]);
        });
      });
      unroll<0, 2 * kDigits>([&](auto c) MANYMOD_INLINE_STEP {
        t[c.kValue] += t[c.kValue];
        if constexpr (kBiased && starting_value(c.kValue) != 0)
          t[c.kValue] += broadcast(starting_value(c.kValue));
      });
      for_digits([&](auto i) MANYMOD_INLINE_STEP {
        Arch::multiply_add(t + 2 * i.kValue, a.digit[i.kValue], a.digit[i.kValue]);
      });
    } else {
      // Doubled digits are below 2^32.
      start_columns<kBiased>(t);
      Number twice;
      for_digits([&](auto i)
                     MANYMOD_INLINE_STEP { twice.digit[i.kValue] = a.digit[i.kValue] + a.digit[i.kValue]; });
      unroll<0, 2 * kDigits - 1>([&](auto c) MANYMOD_INLINE_STEP {
        constexpr std::size_t kFirst = c.kValue < kDigits ? 0 : c.kValue - kDigits + 1;
        unroll<kFirst, (c.kValue + 1) / 2>([&](auto i) MANYMOD_INLINE_STEP {
          Arch::multiply_add(t + c.kValue, twice.digit[i.kValue], a.digit[c.kValue - i.kValue]);
        });
        if constexpr (c.kValue % 2 == 0)
          Arch::multiply_add(t + c.kValue, a.digit[c.kValue / 2], a.digit[c.kValue / 2]);
      });
    }
  }
  static constexpr Limb starting_value(std::size_t column) {
    return C::kReduction == Reduction::montgomery ? C::bias(column) : 0;
  }
  template <bool kBiased>
  static MANYMOD_INLINE void start_columns(Vector* t) {
    unroll<0, 2 * kDigits>(
        [&](auto c) MANYMOD_INLINE_STEP { t[c.kValue] = broadcast(kBiased ? starting_value(c.kValue) : 0); });
  }

  /// r = t / 2^kRadixBits mod p, r < 2 p. On input: t <= 16 p^2 in 2 L columns.
  static MANYMOD_INLINE void reduce(Number& r, Vector* t) {
    if constexpr (C::kReduction == Reduction::montgomery) {
      reduce_by_quotients(r, t);
    } else if constexpr (C::kReduction == Reduction::fold) {
      reduce_by_fold(r, t);
    } else {
      reduce_by_shifted_fold(r, t);
    }
  }

  /// Montgomery's reduction with p in signed digits. Row i adds q_i p W^i, which makes column i divisible by
  /// W. Where the lowest digit of p is -1, q_i = column i mod W: the sum is column i less its low digit.
  static MANYMOD_INLINE void reduce_by_quotients(Number& r, Vector* t) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP { clear_column<i.kValue>(t); });
    carry(r, t + kDigits);
  }
  template <std::size_t kColumn>
  static MANYMOD_INLINE void clear_column(Vector* t) {
    Vector* const column = t + kColumn;
    Vector q = column[0] & C::kMask;
    if constexpr (C::quotient_shift() != 0) {
      q = (column[0] + (column[0] << C::quotient_shift())) & C::kMask;
      Arch::multiply_add(column, q, broadcast(static_cast<Limb>(kSignedPrime[0])));
    }
    column[1] += column[0] >> w;
    unroll<1, kDigits>([&](auto j) MANYMOD_INLINE_STEP {
      if constexpr (kSignedPrime[j.kValue] == -1) {
        column[j.kValue] -= q;
      } else if constexpr (kSignedPrime[j.kValue] == 1) {
        column[j.kValue] += q;
      } else if constexpr (kSignedPrime[j.kValue] != 0) {
        Arch::multiply_add(column + j.kValue, q, broadcast(static_cast<Limb>(kSignedPrime[j.kValue])));
      }
    });
  }
  /// r = (t + a b) / 2^kRadixBits mod p, as reduce. By rows, column i is complete after row i: clearing it
  /// overlaps with the products of the next row.
  static MANYMOD_INLINE void reduce_with_product(Number& r, Vector* t, const Number& a, const Number& b) {
    for_digits([&](auto j) MANYMOD_INLINE_STEP {
      for_digits([&](auto i) MANYMOD_INLINE_STEP {
        Arch::multiply_add(t + i.kValue + j.kValue, a.digit[i.kValue], b.digit[j.kValue]);
      });
      clear_column<j.kValue>(t);
    });
    carry(r, t + kDigits);
  }

  /// r = a^2 / 2^kRadixBits mod p likewise. By columns, each of which is doubled and cleared once its cross
  /// products are summed up.
  static MANYMOD_INLINE void reduce_with_square(Number& r, Vector* t, const Number& a) {
    start_columns<true>(t);
    Vector cross[2 * kDigits] = {};
    unroll<0, 2 * kDigits>([&](auto c) MANYMOD_INLINE_STEP {
      constexpr std::size_t kFirst = c.kValue < kDigits ? 0 : c.kValue - kDigits + 1;
      unroll<kFirst, (c.kValue + 1) / 2>([&](auto i) MANYMOD_INLINE_STEP {
        Arch::multiply_add(cross + c.kValue, a.digit[i.kValue], a.digit[c.kValue - i.kValue]);
      });
      if constexpr (c.kValue % 2 == 0)
        Arch::multiply_add(t + c.kValue, a.digit[c.kValue / 2], a.digit[c.kValue / 2]);
      t[c.kValue] += cross[c.kValue] + cross[c.kValue];
      if constexpr (c.kValue < kDigits) clear_column<c.kValue>(t);
    });
    carry(r, t + kDigits);
  }

  /// The product is h W^L + l, h < 2^256, l not carried; of the digits of h only the low w bits count. With c
  /// = W^L mod p, l + h c is e 2^kBits + l' mod p, and r = l' + e (2^kBits mod p) < 2 p: w = 52: c < 2^37, so
  /// that column L is below 2^37 and e < 2^42. Columns below 2^57 are not carried when e is taken: l' <
  /// 2^kBits + 2^215. w = 29: c < 2^38, and h_(L-1) < 2^24, so that column L is below 2^33 and e < 2^39, two
  /// digits. l' < 2^kBits.
  static MANYMOD_INLINE void reduce_by_fold(Number& r, Vector* t) {
    static_assert(C::kTopDigit + 1 == kDigits);
    Vector low[kDigits + 2];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { low[i.kValue] = t[i.kValue]; });
    low[kDigits] = low[kDigits + 1] = Vector{};
    carry_through<kDigits, 2 * kDigits - 1, !kSplit>(t);
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      unroll<0, 2>([&](auto k) MANYMOD_INLINE_STEP {
        if constexpr (kFold[k.kValue] != 0)
          Arch::multiply_add(low + i.kValue + k.kValue, t[kDigits + i.kValue], broadcast(kFold[k.kValue]));
      });
    });
    fold_top(r, low);
  }
  /// r = the number in L + 1 columns, of which the highest is below 2^42.
  static MANYMOD_INLINE void fold_top(Number& r, Vector* low) {
    // Columns of whole products are too large for e.
    if constexpr (!kSplit) carry_through<0, kDigits>(low);
    const Vector top = split_top(low) + (low[kDigits] << C::kSpareBits);
    unroll<0, kSplit ? 1 : 2>([&](auto i) MANYMOD_INLINE_STEP {
      const Vector digit = kSplit ? top : i.kValue == 0 ? top & C::kMask : top >> w;
      unroll<0, 2>([&](auto k) MANYMOD_INLINE_STEP {
        if constexpr (kTopFold[k.kValue] != 0)
          Arch::multiply_add(low + i.kValue + k.kValue, digit, broadcast(kTopFold[k.kValue]));
      });
    });
    carry(r, low);
  }

  /// p = 2^kBits - 1, and W^L = 2^kSpareBits = W 2^(+-1) mod p: column c + L is added to column c + 1,
  /// doubled
  /// (+), or with all lower columns doubled instead (-). The highest column is 0: the top digits of a and b
  /// are below 2^5 for w = 52, and products are not split for w = 29.
  static MANYMOD_INLINE void reduce_by_shifted_fold(Number& r, Vector* t) {
    Vector low[kDigits + 1];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      low[i.kValue] = t[i.kValue];
      if constexpr (C::kDoubled) low[i.kValue] += t[i.kValue];
      if constexpr (i.kValue > 0) {
        const Vector folded = t[kDigits + i.kValue - 1];
        low[i.kValue] += C::kDoubled ? folded : folded + folded;
      }
    });
    // Before the top is split off, w = 29 carries all columns, w = 52 the one below it; those further below
    // are less than 2^59 W^(L-3) = 2^475. So r < 2^kBits + 2^475 + 2^60 < 2 p.
    carry_through<kSplit ? kDigits - 2 : 0, kDigits - 1>(low);
    low[0] += split_top(low);
    carry(r, low);
  }

  template <int kFactor>
  static MANYMOD_INLINE void add_multiple(Vector& sum, Vector x) {
    constexpr int kTimes = kFactor < 0 ? -kFactor : kFactor;
    static_assert(kTimes >= 1 && kTimes <= 3);
    const Vector multiple = kTimes == 1 ? x : kTimes == 2 ? x + x : x + x + x;
    sum = kFactor < 0 ? sum - multiple : sum + multiple;
  }
  /// r = a b + kSquares p^2 - s, reduced.
  static MANYMOD_INLINE void multiply_less(Number& r, const Number& a, const Number& b, const Vector* s) {
    Vector t[2 * kDigits];
    if constexpr (kInterleaved) {
      unroll<0, 2 * kDigits>([&](auto c) MANYMOD_INLINE_STEP {
        t[c.kValue] = broadcast(kLentSquare[c.kValue] + starting_value(c.kValue)) - s[c.kValue];
      });
      reduce_with_product(r, t, a, b);
    } else {
      product_columns(t, a, b);
      unroll<0, 2 * kDigits>(
          [&](auto c) MANYMOD_INLINE_STEP { t[c.kValue] += broadcast(kLentSquare[c.kValue]) - s[c.kValue]; });
      reduce(r, t);
    }
  }
  static MANYMOD_INLINE void multiply_subtract(Number& r, const Number& a, const Number& b, const Number& c,
                                               const Number& d) {
    Vector s[2 * kDigits];
    product_columns<false>(s, c, d);
    multiply_less(r, a, b, s);
  }
  static MANYMOD_INLINE void multiply_subtract_square(Number& r, const Number& a, const Number& b,
                                                      const Number& c) {
    Vector s[2 * kDigits];
    square_columns<false>(s, c);
    multiply_less(r, a, b, s);
  }
  static MANYMOD_NOINLINE void multiply_subtract_called(Number& r, const Number& a, const Number& b,
                                                        const Number& c, const Number& d) {
    multiply_subtract(r, a, b, c, d);
  }
  static MANYMOD_NOINLINE void multiply_subtract_square_called(Number& r, const Number& a, const Number& b,
                                                               const Number& c) {
    multiply_subtract_square(r, a, b, c);
  }
  static MANYMOD_INLINE void multiply(Number& r, const Number& a, const Number& b) {
    Vector t[2 * kDigits];
    if constexpr (kInterleaved) {
      start_columns<true>(t);
      reduce_with_product(r, t, a, b);
    } else {
      product_columns(t, a, b);
      reduce(r, t);
    }
  }
  static MANYMOD_INLINE void square(Number& r, const Number& a) {
    Vector t[2 * kDigits];
    if constexpr (kInterleaved) {
      reduce_with_square(r, t, a);
    } else {
      square_columns(t, a);
      reduce(r, t);
    }
  }
  static MANYMOD_NOINLINE void multiply_called(Number& r, const Number& a, const Number& b) {
    multiply(r, a, b);
  }
  static MANYMOD_NOINLINE void square_called(Number& r, const Number& a) { square(r, a); }
};

}  // namespace manymod::special_primes

#undef MANYMOD_INLINE
#undef MANYMOD_NOINLINE
#undef MANYMOD_INLINE_STEP
