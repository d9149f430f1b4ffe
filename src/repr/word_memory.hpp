// SPDX-License-Identifier: Apache-2.0
// Numbers as kernels meet them in memory: little-endian 32-bit words, and a lane's own words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"

namespace manymod {

/// Words of a lane's own, in shared memory on devices: word j of neighbouring lanes stand side by side.
struct LaneMemory {
  std::uint32_t* first = nullptr;
  unsigned stride = 1;
  MM_DEVICE std::uint32_t& operator[](unsigned j) const {
    return first[static_cast<std::size_t>(j) * stride];
  }
};

/// A canonical number: little-endian 32-bit words; those from `count` on are 0. Without words it is `small`.
struct WordSource {
  const std::uint32_t* words = nullptr;
  unsigned count = 0;
  std::uint32_t small = 0;
  MM_DEVICE std::uint32_t operator[](unsigned j) const { return j < count ? words[j] : j == 0 ? small : 0; }
};

/// Where a canonical number goes. Words from `count` on are dropped.
struct WordSink {
  std::uint32_t* words = nullptr;
  unsigned count = 0;
  MM_DEVICE void set(unsigned j, std::uint32_t word) const {
    if (j < count) words[j] = word;
  }
};

}  // namespace manymod
