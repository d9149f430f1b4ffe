// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/lookup.avx512f.hpp"
#include "modmul/special_primes/digits29.avx512f.hpp"

// See field/special_lanes.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc", "no-ipa-ra")
#endif

#include "ecc/lanes/point_kernels.hpp"

namespace manymod::ecc::lanes {

namespace {

template <std::size_t kDigits>
constexpr PointLaneCalls kCalls =
    PointKernels<RuntimeCurve<kDigits>, special_primes::Digits29Avx512f, Lookup32Avx512f>::calls();

}  // namespace

std::span<const PointLaneCalls* const> avx512f_runtime_curves() {
  static constexpr const PointLaneCalls* kAll[] = {&kCalls<6>, &kCalls<9>, &kCalls<14>};
  return kAll;
}

}  // namespace manymod::ecc::lanes
