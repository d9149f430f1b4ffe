// SPDX-License-Identifier: Apache-2.0
#include "modmul/special_primes/digits52.avx512ifma.hpp"

// Reassociation would add the products of a column to each other before adding them to the column sum, which
// takes more registers. Registers that callers know to be unchanged by a call would look like results of it
// to tests/cmake/check_vector_instructions.py.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "field/special_lane_entries.hpp"

namespace manymod::field {

std::span<const SpecialLaneCalls> avx512ifma_special_lanes() {
  return SpecialLaneEntries<special_primes::Digits52Avx512Ifma>::kFields;
}

}  // namespace manymod::field
