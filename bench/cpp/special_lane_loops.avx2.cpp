// SPDX-License-Identifier: Apache-2.0
#include "modmul/special_primes/digits29.avx2.hpp"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc")  // see src/field/special_lanes.hpp
#endif

#include "special_lane_loop_entries.hpp"

namespace manymod::bench {

std::span<const SpecialLaneLoops> avx2_special_lane_loops() {
  return SpecialLaneLoopEntries<special_primes::Digits29Avx2>::kLoops;
}

}  // namespace manymod::bench
