// SPDX-License-Identifier: Apache-2.0
// The widths of exponent windows on a GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gpu/program/shape.hpp"
#include "modexp/windows.hpp"

namespace manymod::gpu {

/// The cost of reading a table element in constant time, in multiplications, as measured on an H200
/// (bench/results/device_powers_h200.json). For groups of four threads and more: kScanCostOfWords times the
/// words that hold a digit, divided by the modulus's words. For one or two threads: kScanCost if the tables
/// of all instances in flight fit in the second-level cache, else kScanCostFromMemory.
inline constexpr double kScanCostOfWords = 0.9;
inline constexpr double kScanCost = 0.02;
inline constexpr double kScanCostFromMemory = 0.06;
/// The widest constant-time window if the elements of many digits are selected together (Shape::selections).
/// A wider window then costs only the computation of its table.
inline constexpr std::size_t kWidestSelected = 5;

/// Shape::scan_cost where a technique has measured its own. `tables`: the number of instances in flight. The
/// threads of a large group do more arithmetic per word that they read, and the more so the wider the numbers
/// are.
inline double scan_cost(const Shape& shape, std::size_t tables) {
  constexpr unsigned kLargeGroup = 4;
  constexpr std::size_t kCachedBytes = std::size_t{32} << 20;
  constexpr std::size_t kUsualTable = 16;  // elements
  if (shape.scan_cost > 0) return shape.scan_cost;
  if (shape.threads >= kLargeGroup) {
    const double words_of_digit = static_cast<double>(shape.lane_words) / shape.per_thread;
    return kScanCostOfWords * words_of_digit / shape.words;
  }
  const std::size_t element = std::size_t{shape.threads} * shape.lane_words * sizeof(std::uint32_t);
  return tables * kUsualTable * element > kCachedBytes ? kScanCostFromMemory : kScanCost;
}

/// The width of fixed windows for exponents that are read as `exponent_bits` bits.
inline std::uint32_t window_bits(const Shape& shape, std::size_t exponent_bits, bool secret,
                                 std::size_t tables) {
  // For shorter exponents the widest windows save less than their tables cost.
  const bool selects = secret && shape.selections > 0;
  const std::size_t most = selects ? kWidestSelected : exponent_bits < 1536 ? 5 : 6;
  const std::size_t best =
      fixed_window_width(exponent_bits, secret && !selects ? scan_cost(shape, tables) : 0);
  return static_cast<std::uint32_t>(std::min(best, most));
}

}  // namespace manymod::gpu
