// SPDX-License-Identifier: Apache-2.0
// manymod/device/modular.cuh on the host: a Modulus whose lanes run in lockstep.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "manymod/device/modular.cuh"
#include "support/device_multiplier.hpp"
#include "support/device_values.hpp"
#include "support/lockstep.hpp"

namespace manymod::test {

template <unsigned bits, unsigned threads, class Chosen>
struct ApiShape {
  using Technique = Chosen;
  static constexpr unsigned kBits = bits;
  static constexpr unsigned kThreads = threads;
  using Group = LockstepGroup<threads>;
  using Modulus = device::Modulus<bits, threads, Technique, Group>;
  /// About the time of a product.
  static constexpr unsigned kCost = threads == 1 ? Modulus::kWords / 8 + 1 : Modulus::kWords * threads;
};

struct ApiShapeNames {
  template <class Shape>
  static std::string GetName(int /*index*/) {  // NOLINT(readability-identifier-naming): GoogleTest's
    const bool row32 = std::is_same_v<typename Shape::Technique, device::Row32>;
    return std::string(row32 ? "row32_" : "dpf52_") + std::to_string(Shape::kBits) + "bits_" +
           std::to_string(Shape::kThreads) + "threads";
  }
};

inline device::Words api_words(const Words& a) { return {a.data(), static_cast<unsigned>(a.size())}; }

/// Call body(modulus, lane) in every lane. @return whether the lanes kept to their own working memory
template <class Shape, class Body>
bool with_modulus(const Words& n, Body body) {
  using Modulus = typename Shape::Modulus;
  GuardedColumns memory(Shape::kThreads, Modulus::kSharedWords);
  run_lockstep<Shape::kThreads>([&](typename Shape::Group group) {
    const LaneMemory own{memory.column(group.lane()), memory.stride()};
    const Modulus modulus(api_words(n), own, group);
    body(modulus, group.lane());
  });
  return memory.guards_intact();
}

}  // namespace manymod::test
