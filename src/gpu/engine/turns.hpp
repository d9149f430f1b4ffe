// SPDX-License-Identifier: Apache-2.0
// Batches of a number of blocks that is no multiple of what the device holds. A power is one chain of
// products, so that the blocks beyond the last whole wave would take about a wave's time, whatever else the
// device computes. So they and the last wave take turns: the programs of some blocks are cut in two pieces,
// and while one block rests between its pieces, another one is computed in its place. This is McNaughton's
// wrap-around rule for preemptive scheduling (Scheduling with deadlines and loss functions, Management
// Science 6, 1959): n jobs on m machines end after max(longest job, sum / m), and no job is interrupted
// more than once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/program/program.hpp"
#include "gpu/program/programs.hpp"

namespace manymod::gpu {

/// What the device holds of a shape at a time, in blocks of one size.
struct Wave {
  std::size_t blocks = 1;
  std::size_t items_of_block = 1;

  [[nodiscard]] std::size_t items() const { return blocks * items_of_block; }
};

/// Part of the program of a block, in units of which each program has Turns::units.
struct Turn {
  std::size_t block = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// The blocks of a batch that take turns.
struct Turns {
  std::size_t blocks = 0;   ///< of the batch, wave.blocks < blocks <= 2 wave.blocks
  Wave wave = {};           ///< blocks that are resident on the device at a time
  std::uint32_t units = 1;  ///< the grid on which programs are cut; 1: nothing takes turns

  [[nodiscard]] bool rotates() const { return units > 1; }
  /// The time until all blocks are done, in units.
  [[nodiscard]] std::size_t span() const { return (blocks * units + wave.blocks - 1) / wave.blocks; }
  /// All turns in the order in which they begin.
  [[nodiscard]] std::vector<Turn> schedule() const;
};

/// The turns as pieces of a program: cuts are between steps, and pieces without steps are left out. Without
/// turns the whole program.
std::vector<Piece> pieces_of(const Turns& turns, const Program& program);

/// The cost of running a program in turns, in products.
struct TurnCosts {
  double products = 0;  ///< squarings and multiplications of the program
  /// What a second piece costs beyond its steps, in products of a full wave.
  double piece_products = 0;
};
/// On input: `selects`: whether the kernel selects the table elements of many digits together.
TurnCosts turn_costs(std::size_t products, bool selects);

/// The time until all blocks are done, in times of a wave of that size; without turns the number of waves.
double time_in_turns(const Turns& turns, const TurnCosts& costs);

/// How that many blocks, at least a wave and less than two, are computed fastest.
Turns best_turns(std::size_t blocks, const Wave& wave, const TurnCosts& costs);

/// The first items of a batch, which are computed together.
struct BatchPart {
  std::size_t items = 0;
  Turns turns = {};  ///< of these items, if they take turns
};

/// The next part of a batch of `items` > 0 items that are left: whole waves, at most `most` items of them; at
/// the end the last wave and the rest in turns where that is faster. Less than a wave takes turns in smaller
/// blocks where that is faster than larger ones without. `waves`: what the device holds of blocks of each
/// possible size, the largest one last. `most`: a number of whole waves of that size, or less than one where
/// memory is short, and then nothing takes turns.
BatchPart next_part(std::size_t items, std::span<const Wave> waves, const TurnCosts& costs, std::size_t most);

}  // namespace manymod::gpu
