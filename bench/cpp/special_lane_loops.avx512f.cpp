// SPDX-License-Identifier: Apache-2.0
#include "modmul/special_primes/digits29.avx512f.hpp"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc")  // see src/field/special_lanes.hpp
#endif

#include "special_lane_loop_entries.hpp"

namespace manymod::bench {

std::span<const SpecialLaneLoops> avx512f_special_lane_loops() {
  return SpecialLaneLoopEntries<special_primes::Digits29Avx512f>::kLoops;
}

}  // namespace manymod::bench
