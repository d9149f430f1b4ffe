// SPDX-License-Identifier: Apache-2.0
// Minimum, maximum and sum of the bit lengths of several integers, computed on the host or by a kernel.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod {

/// Minimum, maximum and sum of the bit lengths of the integers that were added; initially of none.
struct LengthRange {
  std::uint32_t shortest = 0xffffffffu;
  std::uint32_t longest = 0;
  std::uint64_t total = 0;

  MM_DEVICE void add(std::uint32_t length) { add({length, length, length}); }
  MM_DEVICE void add(const LengthRange& other) {
    shortest = other.shortest < shortest ? other.shortest : shortest;
    longest = other.longest > longest ? other.longest : longest;
    total += other.total;
  }

  /// Whether the mean of the `count` lengths is at least 15/16 of the longest. The items of such a batch are
  /// computed in the order in which they are given, which has the best locality.
  [[nodiscard]] bool nearly_equal(std::uint64_t count) const {
    const std::uint64_t most = longest * count;
    return most - total <= most / 16;
  }
};

}  // namespace manymod
