// SPDX-License-Identifier: Apache-2.0
// Sums of products of digits in columns, their carries, and their reduction modulo a special prime: the lower
// half of lane_arithmetic.hpp, which has the ranges and is the only file that includes this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/limb.hpp"
#include "modmul/special_primes/constants.hpp"
#include "modmul/special_primes/digit_columns.hpp"

namespace manymod::special_primes {

template <class Prime, class Arch>
class LaneColumns : public DigitColumns<kDigitCount<Prime, Arch::kDigitBits>, Arch> {
  using Columns = DigitColumns<kDigitCount<Prime, Arch::kDigitBits>, Arch>;

 public:
  using typename Columns::Number;
  using typename Columns::Uncarried;
  using typename Columns::Vector;
  using C = Constants<Prime, Arch::kDigitBits>;
  static constexpr std::size_t kDigits = C::kDigits;
  static constexpr unsigned w = Arch::kDigitBits;

 protected:
  using Columns::carry;
  using Columns::for_digits;
  static constexpr bool kSplit = Arch::kSplitProducts;
  static constexpr bool kInterleaved = kSplit && C::kReduction == Reduction::montgomery && kDigits > 5;

  // Members rather than local constants, which g++ 12 takes for unused where only lambdas use them.
  static constexpr typename C::Digits kPrime = C::multiple(1);
  static constexpr auto kSignedPrime = C::signed_prime();
  static constexpr auto kFold = C::folding(C::kSpareBits);
  static constexpr auto kTopFold = C::folding(0);

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
  static constexpr bool kLends = kLowestLent < kDigits;

  /// r = half of the number in the columns, which is as odd as lowest is, or half of its sum with p.
  static MANYMOD_INLINE void halve(Number& r, Vector* column, Vector lowest) {
    const Vector odd = Vector{} - (lowest & 1);
    Number even;
    for_digits([&](auto i)
                   MANYMOD_INLINE_STEP { column[i.kValue] += Columns::broadcast(kPrime[i.kValue]) & odd; });
    carry(even, column);
    Columns::template unroll<0, kDigits - 1>([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue] = even.digit[i.kValue] >> 1 | (even.digit[i.kValue + 1] & 1) << (w - 1);
    });
    r.digit[kDigits - 1] = even.digit[kDigits - 1] >> 1;
  }
  /// r = the number in the columns mod p, as reduce_weakly.
  ///
  /// With t = floor(a / 2^kBits) < 16, r = a mod 2^kBits - t (p - 2^kBits), t times few powers of two, each
  /// of which is below 16 W in its digit. Where some are subtracted, 32 W is lent to each digit from the
  /// lowest such one on, and taken back from the next.
  static MANYMOD_INLINE void reduce_columns(auto& r, Vector* column) {
    const Vector t = split_top(column);
    Columns::template unroll<kLowestLent, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
      constexpr Limb kTaken = i.kValue == kLowestLent ? 0 : kLent;
      constexpr Limb kGiven = i.kValue + 1 == kDigits ? 0 : kLent << w;
      column[i.kValue] += Columns::broadcast(kGiven - kTaken);
    });
    subtract_terms(column, t);
    carry(r, column);
  }
  /// Subtracts t (p - 2^kBits) in its columns.
  static MANYMOD_INLINE void subtract_terms(Vector* column, Vector t) {
    Columns::template unroll<1, std::size(Prime::kTerms)>([&](auto index) MANYMOD_INLINE_STEP {
      constexpr primes::Term kTerm = Prime::kTerms[index.kValue];
      constexpr Limb kFactor = static_cast<Limb>(kTerm.factor < 0 ? -kTerm.factor : kTerm.factor);
      const Vector multiple = kFactor == 1 ? t : Arch::low_product(t, Columns::broadcast(kFactor));
      const Vector part = multiple << kTerm.exponent % w;
      Vector& at = column[kTerm.exponent / w];
      at = kTerm.factor < 0 ? at + part : at - part;
    });
  }
  /// r = the number in L + 1 columns mod p, r < 2 p, where nothing is lent: t = floor(a / 2^kBits) < 2^23 is
  /// multiplied by no more than 2^21, so that columns stay below 2^58. w = 52: columns below the top digit
  /// are not carried when t is taken, which adds less than 2^2 W^kTopDigit; w = 29: they are.
  static MANYMOD_INLINE void replace_top(auto& r, Vector* column) {
    if constexpr (!kSplit) Columns::template carry_through<0, kDigits>(column);
    const Vector t = split_top(column) + (column[kDigits] << C::kSpareBits);
    subtract_terms(column, t);
    carry(r, column);
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

  /// Columns of an uncarried number are below 2^kUncarriedBits: split products, see kColumnProducts; whole
  /// ones are carried once (limit_columns and fold_top). The highest column may be negative, mod 2^64, until
  /// the carry of the one below comes (C::bias).
  static constexpr unsigned kUncarriedBits = kSplit ? 58 : 59;
  static constexpr Limb kUncarried = Limb{1} << (kUncarriedBits - w);

  static constexpr Limb starting_value(std::size_t column) {
    return C::kReduction == Reduction::montgomery ? C::bias(column) : 0;
  }
  /// What the columns of a product begin with.
  struct FromBias {
    static constexpr Limb value(std::size_t column) { return starting_value(column); }
  };
  /// t[0 .. 2 L) = a b, from the bias on, or without it.
  template <class Start = FromBias>
  static MANYMOD_INLINE void product_columns(Vector* t, const auto& a, const auto& b) {
    Columns::template start_columns<Start>(t);
    Columns::add_product(t, a, b);
  }

  /// r = t / 2^kRadixBits mod p, r < 2 p. On input: t <= 16 p^2 in 2 L columns.
  static MANYMOD_INLINE void reduce(auto& r, Vector* t) {
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
  static MANYMOD_INLINE void reduce_by_quotients(auto& r, Vector* t) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP { clear_column<i.kValue>(t); });
    carry_quotient(r, t);
  }
  /// r = the upper half of t.
  static MANYMOD_INLINE void carry_quotient(auto& r, Vector* t) {
    limit_columns<kDigits, 2 * kDigits - 1>(r, t);
    carry(r, t + kDigits);
  }
  /// Carries through columns [Begin, End) where r is uncarried: those of whole products are larger.
  template <std::size_t Begin, std::size_t End, class R>
  static MANYMOD_INLINE void limit_columns(const R& /*r*/, Vector* column) {
    if constexpr (!kSplit && std::is_same_v<R, Uncarried>)
      Columns::template carry_through<Begin, End>(column);
  }
  template <std::size_t kColumn>
  static MANYMOD_INLINE void clear_column(Vector* t) {
    Vector* const column = t + kColumn;
    Vector q = column[0] & C::kMask;
    if constexpr (C::quotient_shift() != 0) {
      q = (column[0] + (column[0] << C::quotient_shift())) & C::kMask;
      Arch::multiply_add(column, q, Columns::broadcast(static_cast<Limb>(kSignedPrime[0])));
    }
    column[1] += column[0] >> w;
    Columns::template unroll<1, kDigits>([&](auto j) MANYMOD_INLINE_STEP {
      if constexpr (kSignedPrime[j.kValue] == -1) {
        column[j.kValue] -= q;
      } else if constexpr (kSignedPrime[j.kValue] == 1) {
        column[j.kValue] += q;
      } else if constexpr (kSignedPrime[j.kValue] != 0) {
        Arch::multiply_add(column + j.kValue, q,
                           Columns::broadcast(static_cast<Limb>(kSignedPrime[j.kValue])));
      }
    });
  }
  /// r = (t + a b) / 2^kRadixBits mod p, as reduce. By rows, column i is complete after row i: clearing it
  /// overlaps with the products of the next row.
  static MANYMOD_INLINE void reduce_with_product(auto& r, Vector* t, const auto& a, const auto& b) {
    for_digits([&](auto j) MANYMOD_INLINE_STEP {
      for_digits([&](auto i) MANYMOD_INLINE_STEP {
        Arch::multiply_add(t + i.kValue + j.kValue, a.digit[i.kValue], b.digit[j.kValue]);
      });
      clear_column<j.kValue>(t);
    });
    carry_quotient(r, t);
  }

  /// r = a^2 / 2^kRadixBits mod p likewise. By columns, each of which is doubled and cleared once its cross
  /// products are summed up.
  static MANYMOD_INLINE void reduce_with_square(auto& r, Vector* t, const auto& a) {
    Columns::template start_columns<FromBias>(t);
    Vector cross[2 * kDigits] = {};
    Columns::template unroll<0, 2 * kDigits>([&](auto c) MANYMOD_INLINE_STEP {
      constexpr std::size_t kFirst = c.kValue < kDigits ? 0 : c.kValue - kDigits + 1;
      Columns::template unroll<kFirst, (c.kValue + 1) / 2>([&](auto i) MANYMOD_INLINE_STEP {
        Arch::multiply_add(cross + c.kValue, a.digit[i.kValue], a.digit[c.kValue - i.kValue]);
      });
      if constexpr (c.kValue % 2 == 0)
        Arch::multiply_add(t + c.kValue, a.digit[c.kValue / 2], a.digit[c.kValue / 2]);
      t[c.kValue] += cross[c.kValue] + cross[c.kValue];
      if constexpr (c.kValue < kDigits) clear_column<c.kValue>(t);
    });
    carry_quotient(r, t);
  }

  /// The product is h W^L + l, h < 2^256, l not carried; of the digits of h only the low w bits count. With c
  /// = W^L mod p, l + h c is e 2^kBits + l' mod p, and r = l' + e (2^kBits mod p) < 2 p: w = 52: c < 2^37, so
  /// that column L is below 2^37 and e < 2^42. Columns below 2^57 are not carried when e is taken: l' <
  /// 2^kBits + 2^215. w = 29: c < 2^38, and h_(L-1) < 2^24, so that column L is below 2^33 and e < 2^39, two
  /// digits. l' < 2^kBits.
  static MANYMOD_INLINE void reduce_by_fold(auto& r, Vector* t) {
    static_assert(C::kTopDigit + 1 == kDigits);
    Vector low[kDigits + 2];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { low[i.kValue] = t[i.kValue]; });
    low[kDigits] = low[kDigits + 1] = Vector{};
    Columns::template carry_through<kDigits, 2 * kDigits - 1, !kSplit>(t);
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      Columns::template unroll<0, 2>([&](auto k) MANYMOD_INLINE_STEP {
        if constexpr (kFold[k.kValue] != 0)
          Arch::multiply_add(low + i.kValue + k.kValue, t[kDigits + i.kValue],
                             Columns::broadcast(kFold[k.kValue]));
      });
    });
    fold_top(r, low);
  }
  /// Whether the upper bits of what fold_top adds are 0: the factor is below 2^42.
  static constexpr bool kShortTop =
      kSplit && C::kReduction == Reduction::fold && kTopFold[0] >> 10 == 0 && kTopFold[1] == 0;
  /// r = the number in L + 1 columns, of which the highest is below 2^42.
  static MANYMOD_INLINE void fold_top(auto& r, Vector* low) {
    // Columns of whole products are too large for e.
    if constexpr (!kSplit) Columns::template carry_through<0, kDigits>(low);
    const Vector top = split_top(low) + (low[kDigits] << C::kSpareBits);
    Columns::template unroll<0, kSplit ? 1 : 2>([&](auto i) MANYMOD_INLINE_STEP {
      const Vector digit = kSplit ? top : i.kValue == 0 ? top & C::kMask : top >> w;
      Columns::template unroll<0, 2>([&](auto k) MANYMOD_INLINE_STEP {
        if constexpr (kTopFold[k.kValue] != 0) {
          const Vector factor = Columns::broadcast(kTopFold[k.kValue]);
          if constexpr (kShortTop) {
            Arch::multiply_add_low(low[i.kValue + k.kValue], digit, factor);
          } else {
            Arch::multiply_add(low + i.kValue + k.kValue, digit, factor);
          }
        }
      });
    });
    carry(r, low);
  }

  /// p = 2^kBits - 1, and W^L = 2^kSpareBits = W 2^(+-1) mod p: column c + L is added to column c + 1,
  /// doubled
  /// (+), or with all lower columns doubled instead (-). The highest column is 0: the top digits of a and b
  /// are below 2^5 for w = 52, and products are not split for w = 29.
  static MANYMOD_INLINE void reduce_by_shifted_fold(auto& r, Vector* t) {
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
    Columns::template carry_through<kSplit ? kDigits - 2 : 0, kDigits - 1>(low);
    low[0] += split_top(low);
    limit_columns<0, 1>(r, low);
    carry(r, low);
  }
};

}  // namespace manymod::special_primes
