// SPDX-License-Identifier: Apache-2.0
// Recodings of exponents: how the bits of an exponent become the digits of fixed windows, sliding windows,
// combs and signed sliding windows. One source for the engines of the host and for kernels.
//
// An exponent is given as `bits`: bits(first, count) returns bits first to first + count - 1 of the exponent
// as a number, 0 < count < 32; bits beyond the exponent's end are 0. LimbBits (modexp/limb_bits.hpp) and
// WordBits (modexp/windows.cuda.hpp) are two.
//
// Sources: Booth, "A signed binary multiplication technique" (1951); Handbook of Applied Cryptography,
// algorithms 14.82 (fixed windows), 14.85 (sliding windows) and 14.117 (combs); Solinas, "Efficient
// arithmetic on Koblitz curves" (2000), section 4.1 (w-NAF).
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::recoding {

/// Bits first to first + count - 1 of an exponent.
struct Window {
  unsigned first;
  unsigned count;
};

/// The uppermost of the fixed windows of `width` bits that cover `bits` bits from bit 0 up. It may be shorter
/// than the others: 1 <= count <= width. On input: bits > 0.
MM_DEVICE constexpr Window top_window(unsigned bits, unsigned width) {
  const unsigned count = (bits - 1) % width + 1;
  return {bits - count, count};
}

/// The next digit of a sliding window: `value` is 0 with count = 1, or odd and below 2^count.
struct SlidingDigit {
  unsigned count;  ///< bits that the digit takes from the top
  std::uint32_t value;
};

/// The uppermost sliding digit of the low `left` bits, of at most `width` bits. Variable-time.
/// On input: left > 0, 1 <= width < 32.
template <class Bits>
MM_DEVICE SlidingDigit top_sliding_digit(const Bits& bits, unsigned left, unsigned width) {
  unsigned count = 1;
  std::uint32_t digit = bits(left - 1, 1);
  if (width > 1 && digit != 0) {
    count = left < width ? left : width;
    digit = bits(left - count, count);
    for (; digit % 2 == 0; digit /= 2) --count;
  }
  return {count, digit};
}

/// Row `row` of a comb whose `teeth` teeth are `spacing` bits apart: bit t of the result is bit
/// t spacing + row of the exponent. Constant-time. On input: teeth < 32.
template <class Bits>
MM_DEVICE std::uint32_t comb_digit(const Bits& bits, unsigned teeth, unsigned spacing, unsigned row) {
  std::uint32_t digit = 0;
  for (unsigned t = 0; t < teeth; ++t) digit |= bits(t * spacing + row, 1) << t;
  return digit;
}

/// A digit of signed fixed windows: magnitude, or -magnitude if `negative` is 1.
struct SignedDigit {
  std::uint32_t magnitude;
  std::uint32_t negative;
};

/// The number of signed windows of `width` bits for exponents of `bits` bits: the last one takes the carry
/// out of the bits below.
MM_DEVICE constexpr unsigned signed_digit_count(unsigned bits, unsigned width) { return bits / width + 1; }

/// Digit i of the exponent in radix 2^width: |digit| <= 2^(width - 1), and the exponent is the sum of
/// digit_i 2^(width i). It is the window's bits as a number in two's complement, plus the bit below, so that
/// no carry runs from digit to digit. A digit 0 may be negative. Constant-time. On input: 0 < width < 31.
template <class Bits>
MM_DEVICE SignedDigit signed_digit(const Bits& bits, unsigned width, unsigned i) {
  // `window` has the bit below as its lowest bit.
  const std::uint32_t window = i == 0 ? bits(0, width) << 1 : bits(width * i - 1, width + 1);
  const std::uint32_t negative = window >> width;
  const std::uint32_t value = (window >> 1) + (window & 1);
  const std::uint32_t mask = 0 - negative;
  return {(value & ~mask) | (((1U << width) - value) & mask), negative};
}

/// Widths of w-NAF digits: digits are in magnitude below 2^(width - 1) and fit a signed byte.
inline constexpr unsigned kMinNafWidth = 2;
inline constexpr unsigned kMaxNafWidth = 8;

/// The non-adjacent form of width w of the low `length` bits of an exponent: exponent = sum of d_i 2^i, where
/// each d_i is 0 or odd with |d_i| < 2^(w - 1), and of any w neighbouring d_i at most one is not 0.
/// put(i, d_i) is called for each d_i that is not 0, in ascending order of i.
///
/// @return the number of positions, at most length + 1: one more than the last i, or 0 for exponent 0.
/// Variable-time. On input: kMinNafWidth <= width <= kMaxNafWidth.
template <class Bits, class Put>
MM_DEVICE unsigned signed_sliding_digits(const Bits& bits, unsigned length, unsigned width, Put put) {
  unsigned positions = 0;
  std::uint32_t carry = 0;
  // What is left to recode is carry 2^i + the bits from i up.
  MM_ROLLED
  for (unsigned i = 0; i < length;) {
    if (bits(i, 1) == carry) {
      ++i;
      continue;
    }
    const unsigned count = length - i < width ? length - i : width;
    const std::uint32_t value = bits(i, count) + carry;  // odd, at most 2^count - 1
    carry = value >> (width - 1);
    put(i, static_cast<std::int32_t>(value) - static_cast<std::int32_t>(carry << width));
    positions = i + 1;
    i += count;
  }
  if (carry != 0) {
    put(length, std::int32_t{1});
    positions = length + 1;
  }
  return positions;
}

}  // namespace manymod::recoding
