// SPDX-License-Identifier: Apache-2.0
// How wide windows of exponents are on a CUDA device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gpu/program/shape.hpp"
#include "modexp/windows.hpp"

namespace manymod::gpu {

/// What reading a table element costs, in multiplications, as measured on an H200
/// (bench/results/device_powers_h200.json): with groups of four threads and more this over the number of
/// words, for each word that holds a digit; with one or two threads a constant, where the tables of all
/// instances that are worked on stay in the second-level cache and where they do not.
inline constexpr double kScanCostOfWords = 0.9;
inline constexpr double kScanCost = 0.02;
inline constexpr double kScanCostFromMemory = 0.06;
/// Where elements are selected for many digits at a time wider tables cost nothing but their making.
inline constexpr std::size_t kWidestSelected = 5;

/// `tables`: of items that are worked on at a time. A thread of a large group multiplies long for each word
/// that it reads, and the longer the wider the numbers are.
inline double scan_cost(const Shape& shape, std::size_t tables) {
  constexpr unsigned kLargeGroup = 4;
  constexpr std::size_t kCachedBytes = std::size_t{32} << 20;
  constexpr std::size_t kUsualTable = 16;  // elements
  if (shape.threads >= kLargeGroup) {
    const double words_of_digit = static_cast<double>(shape.lane_words) / shape.per_thread;
    return kScanCostOfWords * words_of_digit / shape.words;
  }
  const std::size_t element = std::size_t{shape.threads} * shape.lane_words * sizeof(std::uint32_t);
  return tables * kUsualTable * element > kCachedBytes ? kScanCostFromMemory : kScanCost;
}

/// Of fixed windows, for exponents that are read as so many bits.
inline std::uint32_t window_bits(const Shape& shape, std::size_t exponent_bits, bool secret,
                                 std::size_t tables) {
  // Of shorter exponents the widest windows save too little for their tables.
  const bool selects = secret && shape.selections > 0;
  const std::size_t most = selects ? kWidestSelected : exponent_bits < 1536 ? 5 : 6;
  const std::size_t best =
      fixed_window_width(exponent_bits, secret && !selects ? scan_cost(shape, tables) : 0);
  return static_cast<std::uint32_t>(std::min(best, most));
}

}  // namespace manymod::gpu
