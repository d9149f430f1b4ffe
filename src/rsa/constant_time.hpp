// SPDX-License-Identifier: Apache-2.0
// Decisions on secret bytes without branches or addresses that depend on them: masks, all ones for yes and 0
// for no.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/scalar/word.hpp"

namespace manymod::rsa::constant_time {

using Mask = std::uint64_t;

inline Mask is_zero(std::uint64_t x) { return word::mask_from_bit(word::is_zero_bit(x)); }
inline Mask equal(std::uint64_t x, std::uint64_t y) { return is_zero(x ^ y); }

/// x < y, both below 2^63.
inline Mask less(std::uint64_t x, std::uint64_t y) { return word::mask_from_bit((x - y) >> 63); }

/// x if yes, else y.
inline std::uint64_t select(Mask yes, std::uint64_t x, std::uint64_t y) { return (x & yes) | (y & ~yes); }
inline std::uint8_t select_byte(Mask yes, std::uint8_t x, std::uint8_t y) {
  return static_cast<std::uint8_t>(select(yes, x, y));
}

/// Whether two arrays of one size agree.
inline Mask equal_bytes(std::span<const std::uint8_t> x, std::span<const std::uint8_t> y) {
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    difference = static_cast<std::uint8_t>(difference | (x[i] ^ y[i]));
  return is_zero(difference);
}

/// Move bytes to the front by a secret distance, zeros behind: bytes[i] = bytes[i + distance]. One pass for
/// each bit of the distance, which is at most bytes.size().
inline void shift_to_front(std::span<std::uint8_t> bytes, std::uint64_t distance) {
  const std::size_t size = bytes.size();
  for (std::size_t step = 1; step <= size; step *= 2) {
    const Mask taken = word::mask_from_bit(distance & 1);
    distance >>= 1;
    for (std::size_t i = 0; i + step < size; ++i) bytes[i] = select_byte(taken, bytes[i + step], bytes[i]);
    for (std::size_t i = size - step; i < size; ++i) bytes[i] = select_byte(taken, 0, bytes[i]);
  }
}

}  // namespace manymod::rsa::constant_time
