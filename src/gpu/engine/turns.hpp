// SPDX-License-Identifier: Apache-2.0
// Batches of a little more than whole waves. The blocks beyond the last whole wave would take about a wave's
// time, as a power is one chain of products whatever else the device computes. So they and the last
// wave take turns: the program is cut into segments of equal length (gpu/program/segments.hpp), and in each
// turn as many blocks as the device holds compute their next segment, the others wait. This is McNaughton's
// wrap-around rule for preemptive scheduling (Scheduling with deadlines and loss functions, Management
// Science 6, 1959): n jobs on m machines end after max(longest job, sum / m).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace manymod::gpu {

/// Consecutive blocks of a batch that compute one segment of the program.
struct BlockRun {
  std::size_t first = 0;
  std::size_t blocks = 0;
  std::uint32_t segment = 0;
};

/// Who computes what in which turn. The pairs (segment, block) are numbered in ascending order, block by
/// block; turn t computes the `places` pairs from number t `places` on. So a block is in a turn at most once,
/// if places <= blocks, and always computes its segments in order.
struct Turns {
  std::size_t blocks = 0;      ///< of the batch
  std::size_t places = 1;      ///< blocks that are resident on the device at a time, <= blocks
  std::uint32_t segments = 1;  ///< 1: nothing takes turns

  [[nodiscard]] bool rotates() const { return segments > 1; }
  [[nodiscard]] std::size_t pairs() const { return blocks * segments; }
  [[nodiscard]] std::size_t count() const { return (pairs() + places - 1) / places; }

  /// The pairs of a turn: a run, and a second one, of no blocks unless a segment ends before the turn does.
  [[nodiscard]] std::array<BlockRun, 2> runs(std::size_t turn) const {
    const std::size_t begin = turn * places, end = std::min(pairs(), begin + places);
    const std::size_t change = std::min(end, (begin / blocks + 1) * blocks);
    const auto segment = static_cast<std::uint32_t>(begin / blocks);
    return {{{begin % blocks, change - begin, segment}, {0, end - change, segment + 1}}};
  }
};

/// What the device holds of a shape at a time.
struct Wave {
  std::size_t blocks = 1;
  std::size_t items_of_block = 1;

  [[nodiscard]] std::size_t items() const { return blocks * items_of_block; }
};

/// The cost of running a program in turns, in products.
struct TurnCosts {
  double products = 0;  ///< squarings and multiplications of the program
  /// What a turn costs beyond its segment, in products of a full wave.
  double turn_products = 0;
};
/// On input: `selects`: whether the kernel selects the table elements of many digits together.
TurnCosts turn_costs(std::size_t products, bool selects);

/// The time of all turns, in waves: one launch takes the blocks divided by `places`, rounded up.
double time_in_turns(const Turns& turns, const TurnCosts& costs);

/// How the blocks of one wave and a rest are computed fastest.
Turns best_turns(std::size_t blocks, const Wave& wave, const TurnCosts& costs);

/// The first items of a batch, which are computed together.
struct BatchPart {
  std::size_t items = 0;
  Turns turns;  ///< of these items, if they take turns
};

/// The next part of a batch of `items` > 0 items that are left: whole waves, at most `most` items of them; at
/// the end the last wave and the rest in turns where that is faster. `most` is a number of whole waves, or
/// less than one where memory is short, and then nothing takes turns.
BatchPart next_part(std::size_t items, const Wave& wave, const TurnCosts& costs, std::size_t most);

}  // namespace manymod::gpu
