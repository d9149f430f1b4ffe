// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/lookup.avx512ifma.hpp"
#include "modmul/special_primes/digits52.avx512ifma.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "ecc/lanes/point_kernels.hpp"

namespace manymod::ecc::lanes {

namespace {

template <std::size_t kDigits>
constexpr PointLaneCalls kCalls =
    PointKernels<RuntimeCurve<kDigits>, special_primes::Digits52Avx512Ifma, Lookup64>::calls();

}  // namespace

std::span<const PointLaneCalls* const> avx512ifma_runtime_curves() {
  static constexpr const PointLaneCalls* kAll[] = {&kCalls<3>, &kCalls<5>, &kCalls<8>, &kCalls<10>,
                                                   &kCalls<13>};
  return kAll;
}

}  // namespace manymod::ecc::lanes
