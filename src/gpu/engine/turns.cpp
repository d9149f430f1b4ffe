// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/turns.hpp"

namespace manymod::gpu {
namespace {

// What a turn costs beyond its segment, in products of a full wave: two launches that wait for those before,
// the constants that each block reads, those of its moduli, and a result that is converted although it is
// only intermediate. 17 to 23 were measured on an H100 at 1024 bits (docs/rns/measurement.md), where it is
// some 60 us.
constexpr double kTurnProducts = 20;
// In constant time each segment also begins with a selection of its own: 45 together.
constexpr double kSelectionProducts = 25;
// More segments cost more than they gain.
constexpr std::uint32_t kMaxSegments = 16;
// Turns are taken only for a gain beyond the estimates' errors.
constexpr double kClearGain = 0.97;

}  // namespace

TurnCosts turn_costs(std::size_t products, bool selects) {
  return {static_cast<double>(products), kTurnProducts + (selects ? kSelectionProducts : 0)};
}

double time_in_turns(const Turns& turns, const TurnCosts& costs) {
  const auto count = static_cast<double>(turns.count());
  if (!turns.rotates()) return count;
  return count * (1 / static_cast<double>(turns.segments) + costs.turn_products / costs.products);
}

Turns best_turns(std::size_t blocks, const Wave& wave, const TurnCosts& costs) {
  Turns best{blocks, wave.blocks, 1};
  double best_time = kClearGain * time_in_turns(best, costs);
  for (std::uint32_t segments = 2; segments <= kMaxSegments; ++segments) {
    const Turns turns{blocks, wave.blocks, segments};
    const double time = time_in_turns(turns, costs);
    if (time >= best_time) continue;
    best = turns;
    best_time = time;
  }
  return best;
}

BatchPart next_part(std::size_t items, const Wave& wave, const TurnCosts& costs, std::size_t most) {
  const std::size_t of_wave = wave.items();
  const std::size_t whole = items / of_wave, rest = items % of_wave;
  const BatchPart plain{std::min(items, most), {}};
  if (whole == 0 || rest == 0 || most < of_wave) return plain;
  const std::size_t rest_blocks = (rest + wave.items_of_block - 1) / wave.items_of_block;
  const Turns turns = best_turns(wave.blocks + rest_blocks, wave, costs);
  if (!turns.rotates()) return plain;
  if (whole == 1) return {items, turns};
  return {std::min(most, (whole - 1) * of_wave), {}};
}

}  // namespace manymod::gpu
