// SPDX-License-Identifier: Apache-2.0
// The constants of a modulus that is known at run time, in digits of w bits, for Montgomery arithmetic on
// instances in the lanes of vectors (arithmetic.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/limb.hpp"

namespace manymod::montgomery_lanes {

/// log2 of the multiple of p that L digits hold: W^L >= 2^kHeadroomBits p, W = 2^w.
inline constexpr unsigned kHeadroomBits = 4;
/// The most digits of a number in this folder.
inline constexpr std::size_t kMaxDigits = 16;

/// Bits of the longest modulus of `digits` digits.
constexpr unsigned most_bits(std::size_t digits, unsigned digit_bits) {
  return static_cast<unsigned>(digits) * digit_bits - kHeadroomBits;
}

/// A number below W^L.
struct Digits {
  Limb digit[kMaxDigits];
};

struct Constants {
  /// k p for k < 9; multiple[1] = p.
  Digits multiple[9];
  Digits negated;          ///< W^L - p
  Digits one;              ///< W^L mod p
  Digits squared_radix;    ///< W^(2 L) mod p
  Digits four_squares[2];  ///< 4 p^2 = four_squares[0] + W^L four_squares[1]
  Limb quotient;           ///< -1 / p mod W
  /// Estimates of a / p by the bits of a from 2^unit_bit on, u = 2^unit_bit: bit unit_bit is bit unit_shift
  /// of digit unit_digit, and reciprocal = floor(2^kReciprocalBits / (floor(p / u) + 1)). Where u = 1, p
  /// takes the place of p + 1, and slack is 0; else slack is what digits below unit_digit that are not
  /// carried may be worth, in u.
  std::size_t unit_digit;
  unsigned unit_shift;
  Limb slack, reciprocal;

  unsigned bits;                       ///< of p
  std::size_t limbs;                   ///< of p
  std::vector<Limb> inverse_exponent;  ///< p - 2
  std::vector<Limb> root_exponent;     ///< floor((p + 1) / 4)
};

/// log2 of p in units, at most.
inline constexpr unsigned kUnitBits = 12;
inline constexpr unsigned kReciprocalBits = 32;

/// On input: p odd, p > 2, of at most most_bits(digits, digit_bits) bits; digits <= kMaxDigits.
Constants make_constants(std::span<const Limb> p, std::size_t digits, unsigned digit_bits);

}  // namespace manymod::montgomery_lanes
