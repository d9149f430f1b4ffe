// SPDX-License-Identifier: Apache-2.0
// How kernels access numbers in memory: little-endian 32-bit words, and words that belong to one lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"

namespace manymod {

/// Words that belong to one lane, on devices in shared memory: words j of neighbouring lanes are adjacent.
struct LaneMemory {
  std::uint32_t* first = nullptr;
  unsigned stride = 1;
  MM_DEVICE std::uint32_t& operator[](unsigned j) const {
    return first[static_cast<std::size_t>(j) * stride];
  }
};

/// A canonical number to read: little-endian 32-bit words; words from `count` on are 0. With count = 0 the
/// number is `small`.
struct WordSource {
  const std::uint32_t* words = nullptr;
  unsigned count = 0;
  std::uint32_t small = 0;
  MM_DEVICE std::uint32_t operator[](unsigned j) const { return j < count ? words[j] : j == 0 ? small : 0; }
};

/// Where a canonical number is written. Words from `count` on are discarded.
struct WordSink {
  std::uint32_t* words = nullptr;
  unsigned count = 0;
  MM_DEVICE void set(unsigned j, std::uint32_t word) const {
    if (j < count) words[j] = word;
  }
};

}  // namespace manymod
