// SPDX-License-Identifier: Apache-2.0
#include "modmul/special_primes/digits29.avx2.hpp"

// Reassociation would add the products of a column to each other before adding them to the column sum, which
// takes more registers. Registers that callers know to be unchanged by a call would look like results of it
// to tests/cmake/check_vector_instructions.py.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "field/special_lane_entries.hpp"

namespace manymod::field {

std::span<const SpecialLaneCalls> avx2_special_lanes() {
  return SpecialLaneEntries<special_primes::Digits29Avx2>::kFields;
}

}  // namespace manymod::field
