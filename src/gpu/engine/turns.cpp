// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/turns.hpp"

#include <algorithm>

namespace manymod::gpu {
namespace {

// What the second piece of a program costs beyond its steps, in products of a full wave: constants that the
// block reads, those of its moduli, and a store and a load of x. 17 to 23 were measured on an H100 at 1024
// bits for a launch of its own, which the pieces of one launch do not need (docs/rns/measurement.md).
constexpr double kPieceProducts = 20;
// In constant time the second piece also begins with a selection of its own: 45 together.
constexpr double kSelectionProducts = 25;
// A span is a whole number of units, so that half a unit is lost on average: less than 2 %.
constexpr std::uint32_t kMaxUnits = 32;
// Shorter pieces cost more than they gain.
constexpr double kProductsOfUnit = 30;
// Turns are taken only for a gain beyond the estimates' errors.
constexpr double kClearGain = 0.97;
// A wave of smaller blocks takes its share of the time of the largest ones, but no less than this part: then
// a multiprocessor has too few warps to hide latencies. One warpgroup of three takes 0.57 of the time at 1024
// bits, one of two 0.64 at 2048 bits (docs/rns/measurement.md).
constexpr double kLeastTime = 0.64;

// The time of a wave, in times of a wave of the largest blocks.
double relative_time(const Wave& wave, const Wave& largest) {
  return std::max(kLeastTime, static_cast<double>(wave.items()) / static_cast<double>(largest.items()));
}

std::size_t blocks_for(std::size_t items, const Wave& wave) {
  return (items + wave.items_of_block - 1) / wave.items_of_block;
}

// The steps before which the program's units begin, and the end: units have about the same number of
// products.
std::vector<std::uint32_t> steps_of_units(const Program& program, std::uint32_t units) {
  const std::size_t all = products_of(program);
  std::vector<std::uint32_t> begin{0};
  std::size_t products = 0;
  for (std::uint32_t s = 0; s < program.steps.size(); ++s) {
    products += products_of(program.steps[s]);
    while (begin.size() < units && products * units >= all * begin.size()) begin.push_back(s + 1);
  }
  begin.resize(units + std::size_t{1}, static_cast<std::uint32_t>(program.steps.size()));
  return begin;
}

// Less than a wave of the largest blocks.
BatchPart small_part(std::size_t items, std::span<const Wave> waves, const TurnCosts& costs) {
  const auto fits = [&](const Wave& wave) { return wave.items() >= items; };
  const auto whole = std::ranges::find_if(waves, fits);
  BatchPart best{items};
  double best_time = kClearGain * relative_time(*whole, waves.back());
  for (const Wave& wave : waves.first(static_cast<std::size_t>(whole - waves.begin()))) {
    const std::size_t blocks = blocks_for(items, wave);
    if (blocks > 2 * wave.blocks) continue;
    const Turns turns = best_turns(blocks, wave, costs);
    const double time = relative_time(wave, waves.back()) * time_in_turns(turns, costs);
    if (!turns.rotates() || time >= best_time) continue;
    best.turns = turns;
    best_time = time;
  }
  return best;
}

}  // namespace

TurnCosts turn_costs(std::size_t products, bool selects) {
  return {static_cast<double>(products), kPieceProducts + (selects ? kSelectionProducts : 0)};
}

// The programs lie in a row, block after block, which is cut into spans, one for each place. Where a cut
// meets a program, the steps before the cut are computed by the next place, at once, and those behind it by
// the place before the cut, at the end of its span. A program is no longer than a span, so that the
// second piece begins after the first one has ended.
std::vector<Turn> Turns::schedule() const {
  struct Timed {
    std::size_t begin;  // in units
    Turn turn;
  };
  std::vector<Timed> all;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t begin = block * units % span(), end = begin + units;
    const auto cut = static_cast<std::uint32_t>(end > span() ? end - span() : 0);
    if (cut > 0) all.push_back({0, {block, 0, cut}});
    all.push_back({begin, {block, cut, units}});
  }
  std::ranges::stable_sort(all, {}, &Timed::begin);
  std::vector<Turn> turns;
  for (const Timed& timed : all) turns.push_back(timed.turn);
  return turns;
}

std::vector<Piece> pieces_of(const Turns& turns, const Program& program) {
  if (!turns.rotates()) return {{0, 0, static_cast<std::uint32_t>(program.steps.size())}};
  const std::vector<std::uint32_t> step_at = steps_of_units(program, turns.units);
  std::vector<Piece> pieces;
  for (const Turn& turn : turns.schedule()) {
    const Piece piece{static_cast<std::uint32_t>(turn.block), step_at[turn.begin], step_at[turn.end]};
    if (piece.begin < piece.end) pieces.push_back(piece);
  }
  return pieces;
}

double time_in_turns(const Turns& turns, const TurnCosts& costs) {
  const double time = static_cast<double>(turns.span()) / turns.units;
  return turns.rotates() ? time + costs.piece_products / costs.products : time;
}

Turns best_turns(std::size_t blocks, const Wave& wave, const TurnCosts& costs) {
  Turns best{blocks, wave, 1};
  double best_time = kClearGain * time_in_turns(best, costs);
  for (std::uint32_t units = 2; units <= kMaxUnits && units * kProductsOfUnit <= costs.products; ++units) {
    const Turns turns{blocks, wave, units};
    const double time = time_in_turns(turns, costs);
    if (time >= best_time) continue;
    best = turns;
    best_time = time;
  }
  return best;
}

BatchPart next_part(std::size_t items, std::span<const Wave> waves, const TurnCosts& costs,
                    std::size_t most) {
  const Wave& wave = waves.back();
  const BatchPart plain{std::min(items, most)};
  if (most < wave.items()) return plain;
  const std::size_t whole = items / wave.items(), rest = items % wave.items();
  if (rest == 0) return plain;
  if (whole == 0) return small_part(items, waves, costs);
  const Turns turns = best_turns(wave.blocks + blocks_for(rest, wave), wave, costs);
  if (!turns.rotates()) return plain;
  if (whole == 1) return {items, turns};
  return {std::min(most, (whole - 1) * wave.items())};
}

}  // namespace manymod::gpu
