// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/lookup.avx2.hpp"
#include "modmul/special_primes/digits29.avx2.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "ecc/lanes/point_kernels.hpp"

namespace manymod::ecc::lanes {

namespace {

template <std::size_t kDigits>
constexpr PointLaneCalls kCalls =
    PointKernels<RuntimeCurve<kDigits>, special_primes::Digits29Avx2, Lookup32Avx2>::calls();

}  // namespace

std::span<const PointLaneCalls* const> avx2_runtime_curves() {
  static constexpr const PointLaneCalls* kAll[] = {&kCalls<6>, &kCalls<9>, &kCalls<14>};
  return kAll;
}

}  // namespace manymod::ecc::lanes
