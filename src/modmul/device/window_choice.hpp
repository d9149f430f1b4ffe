// SPDX-License-Identifier: Apache-2.0
// How wide windows of exponents are on a CUDA device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "modexp/windows.hpp"
#include "modmul/device/shape.hpp"

namespace manymod::device {

/// Reading a table element costs about so many multiplications, where the tables of all instances that are
/// worked on stay in the second-level cache and where they do not (measured on an H200).
inline constexpr double kScanCost = 0.02;
inline constexpr double kScanCostFromMemory = 0.06;

/// `tables`: of items that are worked on at a time. Groups of four threads and more multiply longer for each
/// word that they read.
inline double scan_cost(const Shape& shape, std::size_t tables) {
  constexpr std::size_t kCachedBytes = std::size_t{32} << 20;
  constexpr std::size_t kUsualTable = 16;  // elements
  const std::size_t element = std::size_t{shape.threads} * shape.lane_words * sizeof(std::uint32_t);
  const bool from_memory = shape.threads < 4 && tables * kUsualTable * element > kCachedBytes;
  return from_memory ? kScanCostFromMemory : kScanCost;
}

/// Of fixed windows, for exponents that are read as so many bits.
inline std::uint32_t window_bits(const Shape& shape, std::size_t exponent_bits, bool secret,
                                 std::size_t tables) {
  // Of shorter exponents the widest windows save too little for their tables.
  const std::size_t most = exponent_bits < 1536 ? 5 : 6;
  const std::size_t best = fixed_window_width(exponent_bits, secret ? scan_cost(shape, tables) : 0);
  return static_cast<std::uint32_t>(std::min(best, most));
}

}  // namespace manymod::device
