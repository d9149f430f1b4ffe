// SPDX-License-Identifier: Apache-2.0
// Blocks that take turns: the arithmetic, and powers by rns in turns on the fake driver.
#include "gpu/engine/turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/cuda/backend.hpp"
#include "gpu/engine/chunk_run.hpp"
#include "gpu/engine/constants.hpp"
#include "gpu/engine/technique.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/program/programs.hpp"
#include "modmul/rns/variants.cuda.hpp"
#include "support/brief.hpp"
#include "support/fake_cuda/fixture.hpp"
#include "support/naive.hpp"

namespace manymod::testing {
namespace {

using gpu::Piece;
using gpu::Turn;
using gpu::Turns;
using gpu::Wave;

// Of rns at 1024 bits on an H100, blocks of each size, and its products with exponents of that length.
constexpr Wave kWaves1024[] = {{132, 64}, {132, 128}, {132, 192}};
constexpr Wave kWave1024 = kWaves1024[2];
const gpu::TurnCosts kPower1024 = gpu::turn_costs(1250, false);
constexpr std::size_t kNoLimit = SIZE_MAX / 2;

// Turns on a device whose places take the next turn when they are free, and whose turns wait for the block's
// earlier one. @return the time until all are done, in units
std::size_t time_to_run(const Turns& turns) {
  std::vector<std::size_t> free_at(turns.wave.blocks, 0), done_at(turns.blocks, 0);
  for (const Turn& turn : turns.schedule()) {
    std::size_t& place = *std::ranges::min_element(free_at);
    place = std::max(place, done_at[turn.block]) + turn.end - turn.begin;
    done_at[turn.block] = place;
  }
  return *std::ranges::max_element(free_at);
}

TEST(Turns, EachBlockComputesItsProgramInOrderInAtMostTwoPieces) {
  for (const Turns& turns : {Turns{3, {2, 1}, 2}, Turns{5, {5, 1}, 3}, Turns{149, {132, 1}, 31},
                             Turns{263, {132, 1}, 2}, Turns{7, {4, 1}, 16}, Turns{264, {132, 1}, 7}}) {
    std::vector<std::uint32_t> next(turns.blocks, 0), pieces(turns.blocks, 0);
    for (const Turn& turn : turns.schedule()) {
      ASSERT_LT(turn.block, turns.blocks);
      ASSERT_EQ(next[turn.block], turn.begin);
      ASSERT_LT(turn.begin, turn.end);
      next[turn.block] = turn.end;
      EXPECT_LE(++pieces[turn.block], 2u);
    }
    EXPECT_TRUE(std::ranges::all_of(next, [&](std::uint32_t end) { return end == turns.units; }));
  }
}

TEST(Turns, NoPlaceWaits) {
  for (std::size_t blocks = 133; blocks < 264; ++blocks) {
    for (const std::uint32_t units : {2u, 7u, 31u, 32u}) {
      const Turns turns{blocks, kWave1024, units};
      EXPECT_EQ(time_to_run(turns), turns.span()) << blocks << " blocks, " << units << " units";
    }
  }
}

TEST(Turns, WholeWavesTakeNone) {
  for (const std::size_t blocks : {132u, 264u}) {
    const Turns turns = gpu::best_turns(blocks, kWave1024, kPower1024);
    EXPECT_FALSE(turns.rotates());
    EXPECT_DOUBLE_EQ(gpu::time_in_turns(turns, kPower1024), static_cast<double>(blocks / 132));
  }
}

TEST(Turns, RestsTakeLittleMoreThanTheirShare) {
  for (const std::size_t products : {1250u, 2500u, 5000u}) {
    for (const bool selects : {false, true}) {
      const gpu::TurnCosts costs = gpu::turn_costs(products, selects);
      for (std::size_t eighths = 9; eighths < 16; ++eighths) {
        const Turns turns = gpu::best_turns((132 * eighths + 7) / 8, kWave1024, costs);
        EXPECT_GE(static_cast<double>(eighths) / 8 / gpu::time_in_turns(turns, costs), 0.93)
            << eighths << " eighths, " << products;
      }
    }
  }
}

TEST(Turns, ShortProgramsTakeNone) {
  EXPECT_FALSE(gpu::best_turns(149, kWave1024, gpu::turn_costs(20, false)).rotates());
  EXPECT_FALSE(gpu::best_turns(149, kWave1024, gpu::turn_costs(60, true)).rotates());
}

TEST(Turns, BatchesAreWholeWavesAndTheLastOneWithTheRest) {
  const std::size_t wave = kWave1024.items(), most = 3 * wave;
  for (const std::size_t items : {std::size_t{1}, wave / 2, wave, wave + 1, wave + wave / 8, 2 * wave,
                                  2 * wave + wave / 2, 7 * wave + wave / 4}) {
    for (std::size_t left = items; left > 0;) {
      const gpu::BatchPart part = gpu::next_part(left, kWaves1024, kPower1024, most);
      ASSERT_GT(part.items, 0u);
      ASSERT_LE(part.items, left);
      if (part.turns.rotates()) {
        EXPECT_EQ(part.items, left);
        EXPECT_GT(part.items, wave);
        EXPECT_LT(part.items, 2 * wave);
        EXPECT_EQ(part.turns.blocks, (part.items + 191) / 192);
      } else {
        EXPECT_LE(part.items, most);
        EXPECT_TRUE(part.items == left || part.items % wave == 0);
      }
      left -= part.items;
    }
  }
  EXPECT_EQ(gpu::next_part(2 * wave + wave / 2, kWaves1024, kPower1024, kNoLimit).items, wave);
  // Where memory is short.
  const gpu::BatchPart part = gpu::next_part(2 * wave + wave / 2, kWaves1024, kPower1024, wave / 3);
  EXPECT_EQ(part.items, wave / 3);
  EXPECT_FALSE(part.turns.rotates());
}

TEST(Turns, LessThanAWaveTakesTurnsInSmallerBlocks) {
  const std::size_t wave = kWave1024.items();
  // Blocks of 128 items fit at once up to two thirds of a wave; from there on they take turns, until the
  // largest blocks are as fast.
  for (const std::size_t items : {std::size_t{1}, wave / 3, wave / 2, 2 * wave / 3, 49 * wave / 50, wave}) {
    EXPECT_FALSE(gpu::next_part(items, kWaves1024, kPower1024, kNoLimit).turns.rotates()) << items;
  }
  for (const std::size_t items : {7 * wave / 10, 3 * wave / 4, 4 * wave / 5}) {
    const gpu::BatchPart part = gpu::next_part(items, kWaves1024, kPower1024, kNoLimit);
    EXPECT_EQ(part.items, items);
    EXPECT_TRUE(part.turns.rotates()) << items;
    EXPECT_EQ(part.turns.wave.items_of_block, 128u);
    EXPECT_EQ(part.turns.blocks, (items + 127) / 128);
  }
  // Blocks of one size only.
  EXPECT_FALSE(gpu::next_part(3 * wave / 4, std::span(&kWave1024, 1), kPower1024, kNoLimit).turns.rotates());
}

TEST(PiecesOfPrograms, AreCutBetweenStepsIntoTheTurnsShares) {
  const gpu::Program program = gpu::fixed_window_program(0, 1024, 4, true);
  const std::size_t products = gpu::products_of(program);
  const Turns turns{149, kWave1024, 31};
  const std::vector<Turn> schedule = turns.schedule();
  const std::vector<Piece> pieces = gpu::pieces_of(turns, program);
  ASSERT_EQ(pieces.size(), schedule.size());
  std::vector<std::uint32_t> next(turns.blocks, 0);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    ASSERT_EQ(piece.block, schedule[i].block);
    ASSERT_EQ(piece.begin, next[piece.block]);
    ASSERT_LT(piece.begin, piece.end);
    next[piece.block] = piece.end;
    gpu::Program part;
    part.steps.assign(program.steps.begin() + piece.begin, program.steps.begin() + piece.end);
    // A step has up to five products.
    EXPECT_NEAR(static_cast<double>(gpu::products_of(part)),
                static_cast<double>(products * (schedule[i].end - schedule[i].begin)) / turns.units, 5);
  }
  EXPECT_TRUE(std::ranges::all_of(next, [&](std::uint32_t end) { return end == program.steps.size(); }));
}

TEST(PiecesOfPrograms, AreNotCutInAStep) {
  gpu::Program program;
  program.steps.resize(3);
  program.steps[1].squarings = 1000;
  std::vector<std::uint32_t> next(3, 0);
  for (const Piece& piece : gpu::pieces_of({3, {2, 1}, 8}, program)) {
    EXPECT_LT(piece.begin, piece.end);
    EXPECT_EQ(piece.begin, next[piece.block]);
    next[piece.block] = piece.end;
  }
  EXPECT_TRUE(std::ranges::all_of(next, [](std::uint32_t end) { return end == 3; }));
}

class PowersInTurns : public FakeGpuTest {
 protected:
  // In blocks of 64 items.
  void check(const gpu::Technique& technique, TimingClass timing, bool shared, const Turns& turns) {
    const std::span<const gpu::Shape> shapes = shared ? technique.constants->shared_shapes : technique.shapes;
    const gpu::Shape& shape = shapes.front();
    gpu::Device& device = cuda::backend().device(0);
    const std::size_t count = 64 * turns.blocks - 47;
    const Numbers x = some(count), y = some(count, 1), n = moduli(shared ? 1 : count);
    Numbers results{std::vector<Limb>(count * kLimbs), kLimbs};
    std::vector<ItemStatus> statuses(count, ItemStatus::not_computed);
    Job job;
    job.op = Operation::powmod;
    job.timing = timing;
    job.x = x.view();
    job.y = y.view();
    job.modulus = n.view();
    job.result = {results.limbs.data(), count, kLimbs, kLimbs, nullptr};
    job.status = statuses.data();
    const gpu::Program program =
        gpu::fixed_window_program(shape.radix_bits, 64, 4, timing == TimingClass::secret);
    gpu::ChunkPlan plan{device,  shape,  job,
                        program, kLimbs, {{&job.x, gpu::Entry::factor}, {&job.y, gpu::Entry::as_it_is}},
                        1,       {}};
    plan.turns = turns;
    plan.may_refuse = !shared;
    gpu::Workspace workspace(device);
    const gpu::ShapeConstants of_shape(*technique.constants, shape);
    std::optional<gpu::ModulusConstants> of_modulus;
    if (shared) of_modulus.emplace(*technique.constants, shape, n.limbs);
    plan.constants = shared ? &of_modulus->on_device(workspace) : &of_shape.on_device(workspace);
    EXPECT_TRUE(gpu::run_chunk(plan, Items::run(0, count), workspace).empty());
    for (std::size_t i = 0; i < count; ++i) {
      const naive::Limbs modulus = n.number(shared ? 0 : i);
      ASSERT_EQ(results.number(i),
                naive::power_mod(naive::reduce(x.number(i), modulus), y.number(i), modulus))
          << "item " << i;
      ASSERT_EQ(statuses[i], ItemStatus::ok);
    }
  }

 private:
  static constexpr std::size_t kLimbs = 8;

  struct Numbers {
    std::vector<Limb> limbs;
    std::size_t width;

    [[nodiscard]] naive::Limbs number(std::size_t i) const {
      const auto first = limbs.begin() + static_cast<std::ptrdiff_t>(i * width);
      return {first, first + static_cast<std::ptrdiff_t>(width)};
    }
    [[nodiscard]] BatchView view() const {
      return {limbs.data(), limbs.size() / width, width, width, nullptr};
    }
  };

  naive::Generator generate_{61};

  template <class Number>
  static Numbers filled(std::size_t count, std::size_t width, const Number& number) {
    Numbers numbers{{}, width};
    for (std::size_t i = 0; i < count; ++i) {
      const naive::Limbs limbs = number();
      numbers.limbs.insert(numbers.limbs.end(), limbs.begin(), limbs.end());
    }
    return numbers;
  }
  Numbers some(std::size_t count, std::size_t width = kLimbs) {
    return filled(count, width, [&] { return generate_.number(width); });
  }
  Numbers moduli(std::size_t count) {
    return filled(count, kLimbs, [&] {
      naive::Limbs n = generate_.odd_modulus(kLimbs);
      n.back() |= Limb{1} << 63;
      return n;
    });
  }
};

TEST_F(PowersInTurns, AreRight) {
  const gpu::Technique& technique = rns::cuda_techniques().front();
  check(technique, TimingClass::secret, false, {3, {2, 64}, 3});
  if (!kBriefTests) check(technique, TimingClass::public_, true, {2, {1, 64}, 2});
}

}  // namespace
}  // namespace manymod::testing
