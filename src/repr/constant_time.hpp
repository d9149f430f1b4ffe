// SPDX-License-Identifier: Apache-2.0
// Constant-time predicates and selections on secret bytes. A predicate is a mask: all ones if it holds, else
// 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/scalar/word.hpp"

namespace manymod::constant_time {

using Mask = std::uint64_t;

/// x == 0; x == y.
inline Mask is_zero(std::uint64_t x) { return word::mask_from_bit(word::is_zero_bit(x)); }
inline Mask equal(std::uint64_t x, std::uint64_t y) { return is_zero(x ^ y); }

/// x < y. On input: x, y < 2^63.
inline Mask less(std::uint64_t x, std::uint64_t y) { return word::mask_from_bit((x - y) >> 63); }

/// x if `yes` is set, else y.
inline std::uint64_t select(Mask yes, std::uint64_t x, std::uint64_t y) { return (x & yes) | (y & ~yes); }
inline std::uint8_t select_byte(Mask yes, std::uint8_t x, std::uint8_t y) {
  return static_cast<std::uint8_t>(select(yes, x, y));
}

/// Whether two arrays of equal size have the same contents. Timing: the size is public.
inline Mask equal_bytes(std::span<const std::uint8_t> x, std::span<const std::uint8_t> y) {
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    difference = static_cast<std::uint8_t>(difference | (x[i] ^ y[i]));
  return is_zero(difference);
}

/// bytes[i] = bytes[i + distance], with zeros from the end, for a secret distance.
///
/// On input: distance <= bytes.size(). Timing: one pass for each bit of bytes.size(), which is public.
inline void shift_to_front(std::span<std::uint8_t> bytes, std::uint64_t distance) {
  const std::size_t size = bytes.size();
  for (std::size_t step = 1; step <= size; step *= 2) {
    const Mask taken = word::mask_from_bit(distance & 1);
    distance >>= 1;
    for (std::size_t i = 0; i + step < size; ++i) bytes[i] = select_byte(taken, bytes[i + step], bytes[i]);
    for (std::size_t i = size - step; i < size; ++i) bytes[i] = select_byte(taken, 0, bytes[i]);
  }
}

}  // namespace manymod::constant_time
