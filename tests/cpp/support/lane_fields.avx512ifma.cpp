// SPDX-License-Identifier: Apache-2.0
#if MANYMOD_FOREIGN_ISA  // defined by CMake where this machine does not execute the instruction set

#include "support/lane_field_calls.hpp"

namespace manymod::test {

const LaneFieldTables& avx512ifma_lane_fields() { return left_out_lane_fields(); }

}  // namespace manymod::test

#else

#include "modmul/special_primes/digits52.avx512ifma.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "support/lane_field_entries.hpp"

namespace manymod::test {

const LaneFieldTables& avx512ifma_lane_fields() {
  using Arch = special_primes::Digits52Avx512Ifma;
  static constexpr LaneFieldTables kTables{SpecialLaneEntries<Arch>::kFields,
                                           RuntimeLaneEntries<Arch, 3, 5, 13>::kFields};
  return kTables;
}

}  // namespace manymod::test

#endif
