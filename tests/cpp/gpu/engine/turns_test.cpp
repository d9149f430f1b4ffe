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
#include "gpu/program/segments.hpp"
#include "modmul/rns/variants.cuda.hpp"
#include "support/brief.hpp"
#include "support/fake_cuda/fixture.hpp"
#include "support/naive.hpp"

namespace manymod::testing {
namespace {

using gpu::BlockRun;
using gpu::Turns;
using gpu::Wave;

// Of rns at 1024 bits on an H100, and its products with exponents of that length.
constexpr Wave kWave1024{132, 192};
const gpu::TurnCosts kPower1024 = gpu::turn_costs(1250, false);
constexpr std::size_t kNoLimit = SIZE_MAX / 2;

TEST(Turns, EachBlockComputesItsSegmentsInOrderOnceATurn) {
  for (const Turns turns :
       {Turns{3, 2, 2}, Turns{5, 5, 3}, Turns{149, 132, 7}, Turns{263, 132, 2}, Turns{7, 4, 16}}) {
    std::vector<std::uint32_t> next(turns.blocks, 0);
    for (std::size_t turn = 0; turn < turns.count(); ++turn) {
      std::vector<bool> seen(turns.blocks, false);
      std::size_t busy = 0;
      for (const BlockRun& run : turns.runs(turn)) {
        for (std::size_t block = run.first; block < run.first + run.blocks; ++block) {
          ASSERT_LT(block, turns.blocks);
          ASSERT_FALSE(seen[block]);
          seen[block] = true;
          ASSERT_EQ(next[block]++, run.segment);
        }
        busy += run.blocks;
      }
      EXPECT_EQ(busy, std::min(turns.places, turns.pairs() - turn * turns.places));
      EXPECT_GT(turns.runs(turn)[0].blocks, 0u);
    }
    EXPECT_TRUE(std::ranges::all_of(next, [&](std::uint32_t segment) { return segment == turns.segments; }));
  }
}

TEST(Turns, WholeWavesTakeNone) {
  for (const std::size_t blocks : {132u, 264u, 396u}) {
    const Turns turns = gpu::best_turns(blocks, kWave1024, kPower1024);
    EXPECT_FALSE(turns.rotates());
    EXPECT_DOUBLE_EQ(gpu::time_in_turns(turns, kPower1024), static_cast<double>(blocks / 132));
  }
}

TEST(Turns, RestsTakeLittleMoreThanTheirShare) {
  for (const std::size_t products : {1250u, 2500u, 5000u}) {
    const gpu::TurnCosts costs = gpu::turn_costs(products, false);
    for (std::size_t eighths = 9; eighths < 16; ++eighths) {
      const Turns turns = gpu::best_turns((132 * eighths + 7) / 8, kWave1024, costs);
      EXPECT_GE(static_cast<double>(eighths) / 8 / gpu::time_in_turns(turns, costs), 0.85)
          << eighths << " eighths, " << products;
    }
  }
}

TEST(Turns, CostlyTurnsAreFew) {
  const gpu::TurnCosts selecting = gpu::turn_costs(1250, true);
  EXPECT_LT(gpu::best_turns(149, kWave1024, selecting).segments,
            gpu::best_turns(149, kWave1024, kPower1024).segments);
  EXPECT_FALSE(gpu::best_turns(149, kWave1024, gpu::turn_costs(20, false)).rotates());
}

TEST(Turns, BatchesAreWholeWavesAndTheLastOneWithTheRest) {
  const std::size_t wave = kWave1024.items(), most = 3 * wave;
  for (const std::size_t items : {std::size_t{1}, wave / 2, wave, wave + 1, wave + wave / 8, 2 * wave,
                                  2 * wave + wave / 2, 7 * wave + wave / 4}) {
    for (std::size_t left = items; left > 0;) {
      const gpu::BatchPart part = gpu::next_part(left, kWave1024, kPower1024, most);
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
  EXPECT_EQ(gpu::next_part(2 * wave + wave / 2, kWave1024, kPower1024, kNoLimit).items, wave);
  // Where memory is short.
  const gpu::BatchPart part = gpu::next_part(2 * wave + wave / 2, kWave1024, kPower1024, wave / 3);
  EXPECT_EQ(part.items, wave / 3);
  EXPECT_FALSE(part.turns.rotates());
}

TEST(SegmentedPrograms, KeepStepsInOrder) {
  const gpu::Program whole = gpu::fixed_window_program(0, 64, 4, true);
  for (const std::uint32_t segments : {1u, 2u, 5u, 16u}) {
    const gpu::SegmentedProgram cut = gpu::cut_program(whole, segments);
    ASSERT_EQ(cut.begin.size(), segments + 1);
    EXPECT_EQ(cut.program.slots, whole.slots + (segments > 1 ? 1 : 0));
    EXPECT_EQ(cut.program.steps.size(), whole.steps.size() + 2 * (segments - 1));
    EXPECT_EQ(gpu::products_of(cut.program), gpu::products_of(whole));
    for (std::uint32_t i = 0; i < segments; ++i) {
      gpu::Program segment;
      segment.steps.assign(cut.program.steps.begin() + cut.begin[i],
                           cut.program.steps.begin() + cut.begin[i + 1]);
      // A step has up to five products.
      EXPECT_NEAR(static_cast<double>(gpu::products_of(segment)),
                  static_cast<double>(gpu::products_of(whole)) / segments, 5);
      for (std::size_t s = 0; s < segment.steps.size(); ++s) {
        EXPECT_LE(s + segment.steps[s].selection_run, segment.steps.size());
      }
    }
  }
}

class PowersInTurns : public FakeGpuTest {
 protected:
  // By a shape with blocks of 64 items.
  void check(const gpu::Technique& technique, TimingClass timing, bool shared, const Turns& turns) {
    const std::span<const gpu::Shape> shapes = shared ? technique.constants->shared_shapes : technique.shapes;
    gpu::Shape shape = shapes.front();
    shape.block = 128;
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
    const gpu::SegmentedProgram cut = gpu::cut_program(
        gpu::fixed_window_program(shape.radix_bits, 64, 4, timing == TimingClass::secret), turns.segments);
    gpu::ChunkPlan plan{device,      shape,  job,
                        cut.program, kLimbs, {{&job.x, gpu::Entry::factor}, {&job.y, gpu::Entry::as_it_is}},
                        1,           {}};
    plan.turns = turns;
    plan.segments = cut.begin;
    plan.may_refuse = !shared;
    gpu::Workspace workspace(device);
    const gpu::ShapeConstants of_shape(*technique.constants, shape);
    std::optional<gpu::ModulusConstants> of_modulus;
    if (shared) of_modulus.emplace(*technique.constants, shape, n.limbs);
    plan.constants = shared ? &of_modulus->on_device(workspace) : &of_shape.on_device(workspace);
    const std::size_t launches = fake_cuda::counts().launches;
    EXPECT_TRUE(gpu::run_chunk(plan, Items::run(0, count), workspace).empty());
    EXPECT_GE(fake_cuda::counts().launches, launches + turns.count());
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
  check(technique, TimingClass::secret, false, {3, 2, 3});
  if (!kBriefTests) check(technique, TimingClass::public_, true, {2, 1, 2});
}

}  // namespace
}  // namespace manymod::testing
