// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/fill.hpp"

#include <algorithm>

namespace manymod::opencl {
namespace {

constexpr std::size_t kValues = 256;

constexpr std::array<Pattern, kValues> all_patterns() {
  std::array<Pattern, kValues> all{};
  for (std::size_t value = 0; value < kValues; ++value) all[value].fill(static_cast<unsigned char>(value));
  return all;
}

}  // namespace

const Pattern& pattern_of(unsigned char value) {
  static constexpr std::array<Pattern, kValues> kAll = all_patterns();
  return kAll[value];
}

FillRanges fill_ranges(std::size_t begin, std::size_t bytes) {
  const std::size_t end = begin + bytes;
  const std::size_t first = std::min(end, whole_patterns(begin));
  return {begin, first, std::max(first, end / kPatternBytes * kPatternBytes), end};
}

}  // namespace manymod::opencl
