// SPDX-License-Identifier: Apache-2.0
#if MANYMOD_FOREIGN_ISA  // defined by CMake where this machine does not execute the instruction set

#include "support/lane_field_calls.hpp"

namespace manymod::test {

const LaneFieldTables& avx512f_lane_fields() { return left_out_lane_fields(); }

}  // namespace manymod::test

#else

#include "modmul/special_primes/digits29.avx512f.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "support/lane_field_entries.hpp"

namespace manymod::test {

const LaneFieldTables& avx512f_lane_fields() {
  using Arch = special_primes::Digits29Avx512f;
  static constexpr LaneFieldTables kTables{SpecialLaneEntries<Arch>::kFields,
                                           RuntimeLaneEntries<Arch, 6, 9, 14>::kFields};
  return kTables;
}

}  // namespace manymod::test

#endif
