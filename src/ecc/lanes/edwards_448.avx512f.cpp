// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/lookup.avx512f.hpp"
#include "modmul/special_primes/digits29.avx512f.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "ecc/lanes/edwards_kernels.hpp"

namespace manymod::ecc::lanes {

const EdwardsLaneCalls& avx512f_edwards448() {
  static constexpr EdwardsLaneCalls kCalls =
      EdwardsKernels<Curves448, special_primes::Digits29Avx512f, Lookup32Avx512f>::calls();
  return kCalls;
}

}  // namespace manymod::ecc::lanes
