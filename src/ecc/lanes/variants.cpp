// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/variants.hpp"

#include <cstddef>

#include "ecc/lanes/edwards_engine.hpp"
#include "ecc/lanes/engine.hpp"
#include "ecc/scalar64/engine.hpp"

namespace manymod::ecc::lanes {
namespace {

constexpr const char* kNames[] = {"lanes.ifma52", "lanes.radix29.avx512", "lanes.radix29.avx2"};

template <std::size_t kBackend>
constexpr Variant variant() {
  // Processors other than x86-64 have no backends.
  return {
      kNames[kBackend], Backend::cpu,
      [] { return kBackend < point_lane_backends().size() && runs_here(point_lane_backends()[kBackend]); },
      [](const Curve& curve) {
        return kBackend < point_lane_backends().size() &&
               (offers_edwards_lanes(curve) || find_calls(point_lane_backends()[kBackend], curve) != nullptr);
      },
      [](const Curve& curve, std::span<const unsigned>) -> std::unique_ptr<const PointEngine> {
        if (offers_edwards_lanes(curve)) return make_edwards_lanes(curve, edwards_lane_backends()[kBackend]);
        return make_engine(curve, point_lane_backends()[kBackend], scalar64::variant().make(curve, {}));
      }};
}

}  // namespace

std::array<Variant, 3> variants() { return {variant<0>(), variant<1>(), variant<2>()}; }

}  // namespace manymod::ecc::lanes
