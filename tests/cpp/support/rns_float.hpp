// SPDX-License-Identifier: Apache-2.0
// Multipliers of technique rns_float on the host, of any shape, with tables in memory or compiled in.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "modmul/rns_float/multiplier.cuda.hpp"
#include "support/device_multiplier.hpp"

namespace manymod::test {

/// The table that a kernel of shape `Shape` reads for `Bases`, which may be narrower than the shape's own.
template <class Shape, class Bases = typename Shape::Multiplier::BasesOfShape>
const void* rns_float_table() {
  using Kind = typename Shape::Multiplier::KindOfShape;
  constexpr unsigned kPerThread = Shape::kPerThread;
  return rns_float::host_table<Kind, Bases, Shape::kThreads, kPerThread>().words;
}

/// A shape of the kernels on the host.
template <template <class, unsigned> class Technique, unsigned threads, unsigned per_thread>
struct RnsFloatShape : DeviceShape<Technique, threads, per_thread> {
  static constexpr unsigned kPerThread = per_thread;
};

/// GoogleTest's name of a shape, such as pairs_loaded_4x6.
struct RnsFloatNames {
  template <class Shape>
  static std::string GetName(int /*index*/) {  // NOLINT(readability-identifier-naming): GoogleTest's
    using Kind = typename Shape::Multiplier::KindOfShape;
    std::string name = std::is_same_v<Kind, rns_float::HalfWord>         ? "half"
                       : std::is_same_v<Kind, rns_float::PackedHalfWord> ? "half_packed"
                       : std::is_same_v<Kind, rns_float::FullWord>       ? "full"
                       : std::is_same_v<Kind, rns_float::Smooth>         ? "smooth"
                                                                         : "pairs";
    if (std::is_same_v<typename Shape::Multiplier::FormOfShape, rns_float::Loaded>) name += "_loaded";
    return name + "_" + std::to_string(Shape::kThreads) + "x" + std::to_string(Shape::kPerThread);
  }
};

/// Calls body(multiplier, group) in every lane. @return whether the lanes accessed only their own working
/// memory
template <class Shape, class Body>
bool with_rns_multiplier(const Words& n, const void* table, Body body) {
  GuardedColumns memory(Shape::kThreads, Shape::Multiplier::kSharedWords);
  run_lockstep<Shape::kThreads>([&](typename Shape::Group group) {
    const LaneMemory own{memory.column(group.lane()), memory.stride()};
    const typename Shape::Multiplier multiplier(group, own, source_of(n), table);
    body(multiplier, group);
  });
  return memory.guards_intact();
}

/// M_B of the bases, in words.
template <class Bases>
Words radix_of() {
  Words radix{1};
  for (const std::uint32_t m : Bases::kB) radix = naive::multiply(radix, {m});
  return sized(radix, significant_words(radix));
}

/// Whether n shares a factor with M_B.
template <class Bases>
bool is_refused(const Words& n) {
  const rns_float::BaseView b = rns_float::base_b<Bases>();
  for (unsigned i = 0; i < b.channels; ++i) {
    for (const std::uint32_t factor : {b.factor(i), b.moduli[i] / b.factor(i)}) {
      if (factor > 1 && naive::remainder(n, {factor})[0] == 0) return true;
    }
  }
  return false;
}

}  // namespace manymod::test
