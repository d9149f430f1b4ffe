// SPDX-License-Identifier: Apache-2.0
// Loops over the functions of field::SpecialLaneField, expanded where they are called, as in a kernel.
#pragma once

#include <cstddef>
#include <span>

namespace manymod::bench {

/// A function on `elements` elements, independent of each other but for batched inversion.
struct SpecialLaneLoop {
  const char* function;
  std::size_t elements;
  double instructions;  ///< multiplier instructions for one element; 0: none
  void (*run)();
};

struct SpecialLaneLoops {
  static constexpr std::size_t kCount = 6;
  const char* prime;
  std::size_t lanes;
  SpecialLaneLoop loop[kCount];
};

/// One entry for each prime.
std::span<const SpecialLaneLoops> avx512ifma_special_lane_loops();
std::span<const SpecialLaneLoops> avx512f_special_lane_loops();
std::span<const SpecialLaneLoops> avx2_special_lane_loops();

}  // namespace manymod::bench
