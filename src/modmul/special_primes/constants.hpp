// SPDX-License-Identifier: Apache-2.0
// Constants of the special primes in digits of w bits, W = 2^w, computed at compile time.
//
// L digits hold 16 p: elements are below m 2 p for magnitudes m of at most 8 (field/field.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/scalar/word.hpp"
#include "core/limb.hpp"
#include "modmul/special_primes/primes.hpp"

namespace manymod::special_primes {

/// log2 of the multiple of p that the digits of an element hold.
inline constexpr unsigned kHeadroomBits = 4;

/// How a product of L digits by L digits gets back to L digits.
enum class Reduction {
  /// W^L mod p is small: the upper half times it is added to the lower half.
  fold,
  /// The same, W^L mod p being a power of two that takes a shift only.
  shifted_fold,
  /// Montgomery's, from below, with R = W^L: the quotient digits need no multiplication.
  montgomery,
};

template <class Prime>
constexpr Reduction reduction() {
  // 2^kBits mod p has one or two digits, or many.
  const primes::Term second = Prime::kTerms[1];
  if (second.exponent == 0 && second.factor == -1) return Reduction::shifted_fold;
  return second.exponent < Prime::kBits / 4 ? Reduction::fold : Reduction::montgomery;
}

/// L.
template <class Prime, unsigned w>
inline constexpr std::size_t kDigitCount = (Prime::kBits + kHeadroomBits + w - 1) / w;

template <class Prime, unsigned w>
class Constants {
 public:
  static constexpr std::size_t kDigits = kDigitCount<Prime, w>;
  static constexpr unsigned kBits = Prime::kBits;
  static constexpr Reduction kReduction = reduction<Prime>();
  static constexpr Limb kMask = (Limb{1} << w) - 1;
  using Digits = std::array<Limb, kDigits>;

  /// log2(W^L / 2^kBits)
  static constexpr unsigned kSpareBits = static_cast<unsigned>(kDigits * w) - kBits;
  /// Bit kBits of a number is bit kTopShift of digit kTopDigit.
  static constexpr std::size_t kTopDigit = kBits / w;
  static constexpr unsigned kTopShift = kBits % w;

  /// In a shifted fold, W^L mod p = 2^kSpareBits, kSpareBits = w + 1 or w - 1. In the latter case twice the
  /// product is computed, so that no digit is halved.
  static constexpr bool kDoubled = kReduction == Reduction::shifted_fold && kSpareBits + 1 == w;
  static_assert(kReduction != Reduction::shifted_fold || kDoubled || kSpareBits == w + 1);

  /// mul(a, b) = a b / 2^kRadixBits mod p: an element stands for x by x 2^kRadixBits mod p. Modulo
  /// 2^kBits - 1, 2 = 1 / 2^(kBits - 1).
  static constexpr unsigned kRadixBits = kReduction == Reduction::montgomery
                                             ? static_cast<unsigned>(kDigits * w)
                                         : kDoubled ? kBits - 1
                                                    : 0;

  /// factor p
  static constexpr Digits multiple(Limb factor) {
    Digits r = from_limbs(Prime::kLimb);
    Limb carry = 0;
    for (Limb& digit : r) {
      carry += digit * factor;
      digit = carry & kMask;
      carry >>= w;
    }
    return r;
  }

  /// The digits of multiple(factor) with lent W lent by each to the one below it: all but the last are at
  /// least lent (W - 1), so that no difference with so many digits is negative.
  static constexpr Digits lent_multiple(Limb factor, Limb lent = 1) { return lend(multiple(factor), lent); }
  /// The same of factor p^2, in the 2 L columns of a product. Folds split the columns in halves, of which the
  /// lower one is up to (lent + 1) W^L with what is lent by the upper one: for that to be positive,
  /// 2^6 (lent + 2) p > (lent + 1) W^L is added, a multiple of p. Next to 16 p^2 it is negligible.
  static constexpr std::array<Limb, 2 * kDigits> lent_square(Limb factor, Limb lent) {
    const Digits a = multiple(1);
    Digits b = multiple(factor);
    if (kReduction == Reduction::fold) b[0] += (lent + 2) << 6;
    static_assert(kReduction != Reduction::fold || kSpareBits <= 6);
    std::array<Limb, 2 * kDigits> r{};
    for (std::size_t i = 0; i < kDigits; ++i) {
      word::Wide carry = 0;
      for (std::size_t j = 0; j < kDigits; ++j) {
        carry += word::Wide{a[i]} * b[j] + r[i + j];
        r[i + j] = static_cast<Limb>(carry) & kMask;
        carry >>= w;
      }
      r[i + kDigits] = static_cast<Limb>(carry);
    }
    return lend(r, lent);
  }

  /// W^L - p
  static constexpr Digits negated_prime() {
    Digits r = multiple(1);
    Limb carry = 1;
    for (Limb& digit : r) {
      carry += kMask - digit;
      digit = carry & kMask;
      carry >>= w;
    }
    return r;
  }

  /// 2^exponent mod p
  static constexpr Digits power_of_two(unsigned exponent) {
    Limb x[Prime::kLimbs] = {1};
    for (unsigned i = 0; i < exponent; ++i) double_mod(x);
    return from_limbs(x);
  }

  /// For the primes that are reduced by folds, 2^(kBits + shift) mod p, which is below 2^(3 w).
  static constexpr std::array<Limb, 3> folding(unsigned shift) {
    std::array<Limb, 3> r{};
    if (kReduction == Reduction::montgomery) return r;
    for (std::size_t i = 1; i < std::size(Prime::kTerms); ++i) {
      const unsigned exponent = Prime::kTerms[i].exponent + shift;
      const Limb factor = static_cast<Limb>(-Prime::kTerms[i].factor);
      r[exponent / w] += factor << exponent % w;
    }
    for (std::size_t i = 0; i + 1 < r.size(); ++i) {
      r[i + 1] += r[i] >> w;
      r[i] &= kMask;
    }
    return r;
  }

  /// Digits that are not 0.
  static constexpr std::size_t used(const std::array<Limb, 3>& digits) {
    std::size_t count = 0;
    for (const Limb digit : digits) count += digit != 0 ? 1 : 0;
    return count;
  }

  /// p in signed digits: W - 1 is written as -1, with a carry into the next digit. Where the lowest is -1,
  /// the lowest digit of a number is the quotient digit of Montgomery's reduction itself.
  static constexpr std::array<std::int64_t, kDigits> signed_prime() {
    std::array<std::int64_t, kDigits> r{};
    const Digits p = multiple(1);
    Limb carry = 0;
    for (std::size_t i = 0; i < kDigits; ++i) {
      const Limb digit = p[i] + carry;
      carry = digit >= kMask ? 1 : 0;
      r[i] = static_cast<std::int64_t>(digit) - (carry != 0 ? std::int64_t{1} << w : 0);
    }
    return r;
  }

  /// s with -1 / p mod W = 1 + 2^s, or 0 where -1 / p mod W = 1; w for primes that are not of this form.
  static constexpr unsigned quotient_shift() {
    const Limb lowest = multiple(1)[0];
    if (lowest == kMask) return 0;
    for (unsigned s = (w + 1) / 2; s < w; ++s) {
      if (((Limb{1} << s) + 1) * lowest % (Limb{1} << w) == kMask) return s;
    }
    return w;
  }

  /// What columns 0 .. 2 L - 1 begin with, such that subtractions of a digit from each of the columns
  /// j .. j + L - 1, for each negative digit -1 of p at j > 0, leave none negative. All sum up to 0:
  ///   W W^j + (W - 1) (W^(j+1) + .. + W^(2L-2)) - W^(2L-1) = 0.
  /// The last column is W - 1 mod 2^64 less than 0 until the carry of the one below comes.
  static constexpr Limb bias(std::size_t column) {
    Limb r = 0;
    const auto p = signed_prime();
    for (std::size_t j = 1; j < kDigits; ++j) {
      if (p[j] != -1 || column < j) continue;
      r += column + 1 == 2 * kDigits ? ~Limb{0} : column == j ? kMask + 1 : kMask;
    }
    return r;
  }

  /// Products that a quotient digit takes.
  static constexpr std::size_t reduction_products() {
    std::size_t count = 0;
    for (const std::int64_t digit : signed_prime()) count += digit > 1 ? 1 : 0;
    return count;
  }

 private:
  template <std::size_t kCount>
  static constexpr std::array<Limb, kCount> lend(std::array<Limb, kCount> r, Limb lent) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (i + 1 < kCount) r[i] += lent << w;
      if (i > 0) r[i] -= lent;
    }
    return r;
  }

  static constexpr Digits from_limbs(const Limb (&x)[Prime::kLimbs]) {
    Digits r{};
    for (std::size_t bit = 0; bit < 64 * Prime::kLimbs && bit < kDigits * w; ++bit) {
      r[bit / w] |= (x[bit / 64] >> (bit % 64) & 1) << (bit % w);
    }
    return r;
  }

  static constexpr void double_mod(Limb (&x)[Prime::kLimbs]) {
    constexpr std::size_t n = Prime::kLimbs;
    Limb difference[n] = {};
    Limb top = 0, borrow = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Limb twice = x[i] << 1 | top;
      top = x[i] >> 63;
      x[i] = twice;
      difference[i] = twice - Prime::kLimb[i] - borrow;
      borrow = twice < Prime::kLimb[i] || (twice == Prime::kLimb[i] && borrow != 0) ? 1 : 0;
    }
    if (top >= borrow) {
      for (std::size_t i = 0; i < n; ++i) x[i] = difference[i];
    }
  }
};

}  // namespace manymod::special_primes
