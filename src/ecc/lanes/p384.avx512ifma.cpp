// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/lookup.avx512ifma.hpp"
#include "modmul/special_primes/digits52.avx512ifma.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "ecc/lanes/point_kernels.hpp"

namespace manymod::ecc::lanes {

const PointLaneCalls& avx512ifma_p384() {
  static constexpr PointLaneCalls kCalls =
      PointKernels<CurveP384, special_primes::Digits52Avx512Ifma, Lookup64>::calls();
  return kCalls;
}

}  // namespace manymod::ecc::lanes
