// SPDX-License-Identifier: Apache-2.0
// The loops of special_lane_loops.hpp for one instruction set. For inclusion in instruction-set files only.
#pragma once

#include <cstddef>
#include <tuple>

#include "field/batch_inverse.hpp"
#include "field/special_lanes.hpp"
#include "special_lane_loops.hpp"

namespace manymod::bench {

template <class Prime, class Arch>
class SpecialLaneLoopEntry {
  using F = field::SpecialLaneField<Prime, Arch>;
  using Element = typename F::Element;
  using Arithmetic = special_primes::LaneArithmetic<Prime, Arch>;

  static constexpr std::size_t kRounds = 64;
  static constexpr std::size_t kChains = 4;  ///< as many products as a point formula has at a time
  static constexpr std::size_t kBatch = 256;

 public:
  static constexpr SpecialLaneLoops loops() {
    const auto steps = kRounds * kChains;
    return {Prime::kName,
            F::kLanes,
            {{"mul", steps, Arithmetic::kMulInstructions, repeat<multiply>},
             {"sqr", steps, Arithmetic::kSqrInstructions, repeat<square>},
             {"add", steps, 0, repeat<add_reduced>},
             {"sub", steps, 0, repeat<sub_reduced>},
             {"normalize_weak", steps, 0, repeat<normalize>},
             {"batch_inverse", kBatch, 3.0 * Arithmetic::kMulInstructions, invert}}};
  }

 private:
  static void multiply(Element& x, const Element& y) { F{}.mul(x, x, y); }
  static void square(Element& x, const Element& /*y*/) { F{}.sqr(x, x); }
  static void add_reduced(Element& x, const Element& y) { F{}.add(x, y, y); }
  static void sub_reduced(Element& x, const Element& y) { F{}.sub(x, y, y); }
  static void normalize(Element& x, const Element& y) { F{}.normalize_weak(x, y); }

  static void set_up(Element& x, std::size_t i) {
    F{}.one(x);
    for (std::size_t k = 0; k <= i % 8; ++k) F{}.half(x, x);
    F{}.normalize_weak(x, x);
  }

  template <auto kStep>
  static void repeat() {
    Element x[kChains];
    Element y;
    set_up(y, 7);
    for (std::size_t k = 0; k < kChains; ++k) set_up(x[k], k);
    for (std::size_t round = 0; round < kRounds; ++round) {
      kStep(x[0], y), kStep(x[1], y), kStep(x[2], y), kStep(x[3], y);
      asm volatile("" : : "r"(x), "r"(&y) : "memory");
    }
  }
  static void invert() {
    static Element a[kBatch], r[kBatch], scratch[kBatch];
    static typename F::Mask exists[kBatch];
    for (std::size_t i = 0; i < 8; ++i) set_up(a[i], i);
    for (std::size_t i = 8; i < kBatch; ++i) a[i] = a[i % 8];
    field::batch_inverse(F(), r, exists, a, kBatch, scratch);
    asm volatile("" : : "r"(r) : "memory");
  }
};

template <class Arch, class Primes = primes::All>
struct SpecialLaneLoopEntries;
template <class Arch, class... Prime>
struct SpecialLaneLoopEntries<Arch, std::tuple<Prime...>> {
  static constexpr SpecialLaneLoops kLoops[] = {SpecialLaneLoopEntry<Prime, Arch>::loops()...};
};

}  // namespace manymod::bench
