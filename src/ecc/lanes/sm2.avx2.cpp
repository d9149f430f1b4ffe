// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/lookup.avx2.hpp"
#include "modmul/special_primes/digits29.avx2.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "ecc/lanes/point_kernels.hpp"

namespace manymod::ecc::lanes {

const PointLaneCalls& avx2_sm2() {
  static constexpr PointLaneCalls kCalls =
      PointKernels<CurveSm2, special_primes::Digits29Avx2, Lookup32Avx2>::calls();
  return kCalls;
}

}  // namespace manymod::ecc::lanes
