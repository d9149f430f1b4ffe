// SPDX-License-Identifier: Apache-2.0
#include "modmul/special_primes/digits29.avx2.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "support/lane_field_entries.hpp"

namespace manymod::test {

const LaneFieldTables& avx2_lane_fields() {
  using Arch = special_primes::Digits29Avx2;
  static constexpr LaneFieldTables kTables{SpecialLaneEntries<Arch>::kFields,
                                           RuntimeLaneEntries<Arch, 6, 9, 14>::kFields};
  return kTables;
}

}  // namespace manymod::test
