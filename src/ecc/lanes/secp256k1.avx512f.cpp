// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/lookup.avx512f.hpp"
#include "modmul/special_primes/digits29.avx512f.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "ecc/lanes/point_kernels.hpp"

namespace manymod::ecc::lanes {

const PointLaneCalls& avx512f_secp256k1() {
  static constexpr PointLaneCalls kCalls =
      PointKernels<CurveSecp256k1, special_primes::Digits29Avx512f, Lookup32Avx512f>::calls();
  return kCalls;
}

}  // namespace manymod::ecc::lanes
