// SPDX-License-Identifier: Apache-2.0
// Numbers of digits below W = 2^w in the lanes of vectors, and sums of products of digits in columns: what
// arithmetic modulo special primes (lane_arithmetic.hpp) and modulo primes that are known at run time
// (modmul/montgomery_lanes/arithmetic.hpp) share. Column c has weight W^c; `Arch` is explained in
// lane_arithmetic.hpp. For inclusion in instruction-set files only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/limb.hpp"

#define MANYMOD_INLINE inline __attribute__((always_inline))
#define MANYMOD_NOINLINE __attribute__((noinline))
#define MANYMOD_INLINE_STEP __attribute__((always_inline))

namespace manymod::special_primes {

template <std::size_t kCount, class Arch>
class DigitColumns {
 public:
  using Vector = typename Arch::Vector;
  static constexpr unsigned w = Arch::kDigitBits;
  static constexpr std::size_t kDigits = kCount;

  /// Exact digits.
  struct Number {
    Vector digit[kDigits];
  };
  /// Columns that were not carried, for sums and differences, which carry anyway.
  struct Uncarried {
    Vector digit[kDigits];
  };
  /// Digits of which only the low w bits count, which is all that split products read: for factors alone.
  struct Unmasked {
    Vector digit[kDigits];
  };

 protected:
  static constexpr bool kSplit = Arch::kSplitProducts;
  static constexpr Limb kDigitMask = (Limb{1} << w) - 1;

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
  /// sum += kFactor x.
  template <int kFactor>
  static MANYMOD_INLINE void add_multiple(Vector& sum, Vector x) {
    constexpr int kTimes = kFactor < 0 ? -kFactor : kFactor;
    static_assert(kTimes >= 1 && kTimes <= 3);
    const Vector multiple = kTimes == 1 ? x : kTimes == 2 ? x + x : x + x + x;
    sum = kFactor < 0 ? sum - multiple : sum + multiple;
  }

  /// r = the number in the columns, which is below W^L, or below 2 W^L: then its top digit exceeds W.
  static MANYMOD_INLINE void carry(Number& r, const Vector* column) {
    Vector sum = column[0];
    unroll<1, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue - 1] = sum & kDigitMask;
      sum = column[i.kValue] + (sum >> w);
    });
    r.digit[kDigits - 1] = sum;
  }
  static MANYMOD_INLINE void carry(Unmasked& r, const Vector* column) {
    Vector sum = r.digit[0] = column[0];
    unroll<1, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
      sum = r.digit[i.kValue] = column[i.kValue] + (sum >> w);
      if constexpr (!kSplit) r.digit[i.kValue - 1] &= kDigitMask;
    });
  }
  static MANYMOD_INLINE void carry(Uncarried& r, const Vector* column) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP { r.digit[i.kValue] = column[i.kValue]; });
  }
  /// Carries through columns [Begin, End), whose digits become exact, into column End. Without kExact, only
  /// their low w bits are right, which is all that split products read.
  template <std::size_t Begin, std::size_t End, bool kExact = true>
  static MANYMOD_INLINE void carry_through(Vector* column) {
    unroll<Begin, End>([&](auto c) MANYMOD_INLINE_STEP {
      column[c.kValue + 1] += column[c.kValue] >> w;
      if constexpr (kExact) column[c.kValue] &= kDigitMask;
    });
  }

  /// Columns that begin with 0.
  struct FromZero {
    static constexpr Limb value(std::size_t /*column*/) { return 0; }
  };
  /// t[0 .. 2 L) = what they begin with.
  template <class Start>
  static MANYMOD_INLINE void start_columns(Vector* t) {
    unroll<0, 2 * kDigits>([&](auto c)
                               MANYMOD_INLINE_STEP { t[c.kValue] = broadcast(Start::value(c.kValue)); });
  }

  /// t[0 .. 2 L) += a b.
  static MANYMOD_INLINE void add_product(Vector* t, const auto& a, const auto& b) {
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
  /// t[0 .. 2 L) = a^2 and what they begin with: products a_i a_j, i < j, are formed once.
  template <class Start>
  static MANYMOD_INLINE void square_columns(Vector* t, const auto& a) {
    if constexpr (kSplit) {
      unroll<0, 2 * kDigits>([&](auto c) MANYMOD_INLINE_STEP { t[c.kValue] = Vector{}; });
      for_digits([&](auto i) MANYMOD_INLINE_STEP {
        unroll<i.kValue + 1, kDigits>([&](auto j) MANYMOD_INLINE_STEP {
          Arch::multiply_add(t + i.kValue + j.kValue, a.digit[i.kValue], a.digit[j.kValue]);
        });
      });
      unroll<0, 2 * kDigits>([&](auto c) MANYMOD_INLINE_STEP {
        t[c.kValue] += t[c.kValue];
        if constexpr (Start::value(c.kValue) != 0) t[c.kValue] += broadcast(Start::value(c.kValue));
      });
      for_digits([&](auto i) MANYMOD_INLINE_STEP {
        Arch::multiply_add(t + 2 * i.kValue, a.digit[i.kValue], a.digit[i.kValue]);
      });
    } else {
      // Doubled digits are below 2^32.
      start_columns<Start>(t);
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
};

}  // namespace manymod::special_primes
