// SPDX-License-Identifier: Apache-2.0
// The field modulo p = 2^255 - 19 on instances in the lanes of vectors, for formulas that are nothing but
// sums and products, as the ladder is (ecc/formulas/ladder.hpp): five digits of W = 2^51, W^5 = 19 mod p, on
// split products of 52 bits. For inclusion in instruction-set files only.
//
// In digits of 52 bits (special_lanes.hpp) a product takes 61 vpmadd52, carries one digit after the other,
// and every sum does so, too. Here the upper columns are below 2^59 and multiplied by 19 in one instruction
// each, so that a product takes 50 + 5 and a square 30 + 5, and a carry goes from all digits to their
// neighbours at once. In exchange the upper halves of products, which have weight 2 W, are doubled.
//
// Ranges, w = 51. They do not depend on p, and there are no magnitudes:
//   Element     digits below W + 2^15 < 2^52, which split products read
//   Uncarried   columns below 2^59
// Sums and differences are carried: columns below 2^61 give carries c < 2^10, digits below W + c, and the
// lowest one below W + 19 c. A difference is a + 2^9 p - b, whose digits are positive: 2^9 (W - 19) >= 2^59.
//
// Columns of a product, for digits below W + 2^15: halves are lo < 2^52 and hi < 2^50 + 2^16. Column i < 5
// sums up i + 1 lo and 2 i hi, and column i + 5 is 4 - i lo and 2 (5 - i) hi. The largest of the sums is that
// for i = 0: 2^52 + 19 (4 2^52 + 5 2^51 + 10 2^16) < 125 2^52 < 2^59. With a FixedFactor it is 5 2^52 +
// 19 (5 2^51 + 10 2^16) < 2^59, and less for a product with k < 2^20.
//
// Aliasing: results may be operands. Timing: constant-time; nothing depends on a number.
#pragma once

#include <cstddef>
#include <type_traits>

#include "arch/unaligned_vectors.hpp"
#include "core/limb.hpp"
#include "modmul/special_primes/digit_columns.hpp"
#include "repr/verify.hpp"

namespace manymod::field {

/// `Arch`: see modmul/special_primes/lane_arithmetic.hpp; it splits products. It also has
///   multiply_add_high(sum, x, y)   sum += x y / 2^52 of the low 52 bits of x and y
///   product(x, y)                  the low 64 bits of x y
/// Objects have no members.
template <class Arch>
class Redundant25519 : special_primes::DigitColumns<5, Arch> {
  using Columns = special_primes::DigitColumns<5, Arch>;
  using Vectors = UnalignedVectors<Arch>;
  using Columns::broadcast;
  using Columns::for_digits;
  static_assert(Arch::kSplitProducts && Arch::kDigitBits == 52);

 public:
  using typename Columns::Vector;
  static constexpr std::size_t kLanes = Arch::kLanes;
  static constexpr std::size_t kDigits = 5;
  static constexpr unsigned w = 51;
  static constexpr Limb kDigitBound = (Limb{1} << w) + (Limb{1} << 15);
  static constexpr unsigned kUncarriedBits = 59;

  struct Element {
    Vector digit[kDigits];
  };
  using Unmasked = Element;
  struct Uncarried {
    Vector digit[kDigits];
  };
  /// x W^i mod p for 0 <= i < 5.
  struct FixedFactor {
    Element shifted[kDigits];
  };
  using Mask = Vector;

  static MANYMOD_INLINE void zero(auto& r) { set_small(r, 0); }
  static MANYMOD_INLINE void one(auto& r) { set_small(r, 1); }

  /// r = the number of four limbs x below 2^255, limb i of lane l at x[i kLanes + l]. x needs no alignment.
  static MANYMOD_INLINE void from_limbs(Element& r, const Limb* x) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      constexpr std::size_t kLow = i.kValue * w / kLimbBits;
      constexpr unsigned kShift = i.kValue * w % kLimbBits;
      r.digit[i.kValue] = Vectors::load(x, kLow) >> kShift;
      if constexpr (kShift + w > kLimbBits)
        r.digit[i.kValue] |= Vectors::load(x, kLow + 1) << (kLimbBits - kShift);
      r.digit[i.kValue] &= kMask;
    });
    check(r);
  }
  /// x = a number below 2^256 that is a mod p, laid out likewise.
  static MANYMOD_INLINE void to_limbs(Limb* x, const Uncarried& a) {
    check(a);
    Vector digit[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { digit[i.kValue] = a.digit[i.kValue]; });
    // The carry of the top digit, below 2^8, makes the second pass necessary; its own is at most 1, and then
    // all other digits are small.
    carry_in_order(digit);
    digit[0] += (digit[kDigits - 1] >> w) * 19;
    digit[kDigits - 1] &= kMask;
    carry_in_order(digit);
    Columns::template unroll<0, 4>([&](auto l) MANYMOD_INLINE_STEP {
      constexpr std::size_t kFirst = l.kValue * kLimbBits / w;
      constexpr unsigned kShift = l.kValue * kLimbBits % w;
      const Vector limb = digit[kFirst] >> kShift | digit[kFirst + 1] << (w - kShift);
      Vectors::store(x, l.kValue, limb);
    });
  }
  static MANYMOD_INLINE void convert(Uncarried& r, const Element& a) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP { r.digit[i.kValue] = a.digit[i.kValue]; });
  }
  static MANYMOD_INLINE void fix(FixedFactor& r, const Element& a) {
    r.shifted[0] = a;
    Columns::template unroll<1, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
      const Element& previous = r.shifted[i.kValue - 1];
      Vector column[kDigits];
      column[0] = Arch::product(previous.digit[kDigits - 1], nineteen());
      Columns::template unroll<1, kDigits>(
          [&](auto j) MANYMOD_INLINE_STEP { column[j.kValue] = previous.digit[j.kValue - 1]; });
      finish(r.shifted[i.kValue], column);
    });
  }

  static MANYMOD_INLINE void mul(auto& r, const Element& a, const Element& b) {
    check(a), check(b);
    Vector t[2 * kDigits] = {};
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      for_digits([&](auto j) MANYMOD_INLINE_STEP {
        Arch::multiply_add_high(t[i.kValue + j.kValue + 1], a.digit[i.kValue], b.digit[j.kValue]);
      });
    });
    twice<1, 2 * kDigits>(t);
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      for_digits([&](auto j) MANYMOD_INLINE_STEP {
        Arch::multiply_add_low(t[i.kValue + j.kValue], a.digit[i.kValue], b.digit[j.kValue]);
      });
    });
    reduce(r, t);
  }
  /// Row i is a digit of a times x W^i mod p, so that there are no upper columns but one.
  static MANYMOD_INLINE void mul(auto& r, const Element& a, const FixedFactor& b) {
    check(a);
    Vector t[kDigits + 1] = {};
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      for_digits([&](auto j) MANYMOD_INLINE_STEP {
        Arch::multiply_add_high(t[j.kValue + 1], a.digit[i.kValue], b.shifted[i.kValue].digit[j.kValue]);
      });
    });
    twice<1, kDigits + 1>(t);
    t[0] += Arch::product(t[kDigits], nineteen());
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      for_digits([&](auto j) MANYMOD_INLINE_STEP {
        Arch::multiply_add_low(t[j.kValue], a.digit[i.kValue], b.shifted[i.kValue].digit[j.kValue]);
      });
    });
    finish(r, t);
  }
  /// r = k a for a public k < 2^20.
  static MANYMOD_INLINE void mul_small(auto& r, const Element& a, Limb k) {
    check(a);
    Vector t[kDigits + 1] = {};
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      Arch::multiply_add_high(t[i.kValue + 1], a.digit[i.kValue], broadcast(k));
    });
    twice<1, kDigits + 1>(t);
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      Arch::multiply_add_low(t[i.kValue], a.digit[i.kValue], broadcast(k));
    });
    Arch::multiply_add_low(t[0], t[kDigits], broadcast(19));
    finish(r, t);
  }
  /// Products a_i a_j, i < j, are formed once: their upper halves are doubled twice.
  static MANYMOD_INLINE void sqr(auto& r, const Element& a) {
    check(a);
    Vector t[2 * kDigits] = {};
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      Columns::template unroll<i.kValue + 1, kDigits>([&](auto j) MANYMOD_INLINE_STEP {
        Arch::multiply_add_high(t[i.kValue + j.kValue + 1], a.digit[i.kValue], a.digit[j.kValue]);
      });
    });
    twice<2, 2 * kDigits - 1>(t);
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      Arch::multiply_add_high(t[2 * i.kValue + 1], a.digit[i.kValue], a.digit[i.kValue]);
      Columns::template unroll<i.kValue + 1, kDigits>([&](auto j) MANYMOD_INLINE_STEP {
        Arch::multiply_add_low(t[i.kValue + j.kValue], a.digit[i.kValue], a.digit[j.kValue]);
      });
    });
    twice<1, 2 * kDigits>(t);
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      Arch::multiply_add_low(t[2 * i.kValue], a.digit[i.kValue], a.digit[i.kValue]);
    });
    reduce(r, t);
  }
  static MANYMOD_INLINE void add(Element& r, const auto& a, const auto& b) {
    check(a), check(b);
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { column[i.kValue] = a.digit[i.kValue] + b.digit[i.kValue]; });
    finish(r, column);
  }
  static MANYMOD_INLINE void sub(Element& r, const auto& a, const auto& b) {
    check(a), check(b);
    Vector column[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      column[i.kValue] =
          a.digit[i.kValue] + broadcast(i.kValue == 0 ? kLentLowest : kLent) - b.digit[i.kValue];
    });
    finish(r, column);
  }
  /// Lane by lane r = mask ? a : r.
  template <class N>
  static MANYMOD_INLINE void cmov(N& r, const N& a, Mask mask) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue] = (a.digit[i.kValue] & mask) | (r.digit[i.kValue] & ~mask);
    });
  }

 private:
  static constexpr Limb kMask = (Limb{1} << w) - 1;
  /// The digits of 2^9 p.
  static constexpr Limb kLent = kMask << 9, kLentLowest = (kMask - 18) << 9;
  static_assert(kLentLowest >> kUncarriedBits != 0);

  static MANYMOD_INLINE void set_small(auto& r, Limb value) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP { r.digit[i.kValue] = broadcast(i.kValue == 0 ? value : 0); });
  }
  /// 19 in every lane, which GCC must not know: it would multiply by shifts and sums, four instructions in
  /// the place of one.
  static MANYMOD_INLINE Vector nineteen() {
    Vector r = broadcast(19);
#if defined(__GNUC__) && !defined(__clang__)
    __asm__("" : "+v"(r));
#endif
    return r;
  }
  template <std::size_t kBegin, std::size_t kEnd>
  static MANYMOD_INLINE void twice(Vector* column) {
    Columns::template unroll<kBegin, kEnd>([&](auto c)
                                               MANYMOD_INLINE_STEP { column[c.kValue] += column[c.kValue]; });
  }
  /// r = the number in ten columns.
  static MANYMOD_INLINE void reduce(auto& r, Vector* t) {
    for_digits([&](auto i)
                   MANYMOD_INLINE_STEP { t[i.kValue] += Arch::product(t[i.kValue + kDigits], nineteen()); });
    finish(r, t);
  }
  static MANYMOD_INLINE void finish(Uncarried& r, const Vector* column) {
    for_digits([&](auto i) MANYMOD_INLINE_STEP { r.digit[i.kValue] = column[i.kValue]; });
    check(r);
  }
  static MANYMOD_INLINE void finish(Element& r, const Vector* column) {
    Vector carry[kDigits];
    for_digits([&](auto i) MANYMOD_INLINE_STEP { carry[i.kValue] = column[i.kValue] >> w; });
    r.digit[0] = column[0] & kMask;
    Arch::multiply_add_low(r.digit[0], carry[kDigits - 1], broadcast(19));
    Columns::template unroll<1, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
      r.digit[i.kValue] = (column[i.kValue] & kMask) + carry[i.kValue - 1];
    });
    check(r);
  }
  /// All digits but the top one become exact.
  static MANYMOD_INLINE void carry_in_order(Vector* digit) {
    Columns::template unroll<1, kDigits>([&](auto i) MANYMOD_INLINE_STEP {
      digit[i.kValue] += digit[i.kValue - 1] >> w;
      digit[i.kValue - 1] &= kMask;
    });
  }
  /// In VERIFY builds: digits are in the range of their form, in every lane.
  template <class N>
  static MANYMOD_INLINE void check([[maybe_unused]] const N& a) {
#if MANYMOD_VERIFY
    constexpr Limb kBound = std::is_same_v<N, Element> ? kDigitBound : Limb{1} << kUncarriedBits;
    for (std::size_t i = 0; i < kDigits; ++i) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) MANYMOD_VERIFY_RANGE(a.digit[i][lane] < kBound);
    }
#endif
  }
};

}  // namespace manymod::field
