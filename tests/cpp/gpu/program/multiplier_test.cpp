// SPDX-License-Identifier: Apache-2.0
// The concepts that the interpreter requires of a multiplier.
#include "gpu/program/multiplier.cuda.hpp"

#include <gtest/gtest.h>

#include "gpu/program/interpreter.cuda.hpp"
#include "modmul/row32/multiplier.cuda.hpp"
#include "support/lockstep.hpp"

namespace manymod::testing {
namespace {

using Group = test::LockstepGroup<1>;

/// Numbers of one word without any arithmetic: enough for the concept.
struct Toy {
  static constexpr unsigned kWords = 2;
  static constexpr unsigned kRadixBits = 32;
  static constexpr unsigned kLaneWords = 1;
  static constexpr unsigned kSharedWords = 0;
  struct Element {
    std::uint32_t word;
  };

  Toy(Group, LaneMemory, WordSource) {}
  template <class Words>
  [[nodiscard]] Element from_words(const Words& a) const {
    return {a[0]};
  }
  void to_words(WordSink, const Element&) const {}
  [[nodiscard]] Element mul(const Element& a, const Element&) const { return a; }
  [[nodiscard]] Element sqr(const Element& a) const { return a; }
  static std::uint32_t lane_word(const Element& a, unsigned) { return a.word; }
  static void set_lane_word(Element& a, unsigned, std::uint32_t word) { a.word = word; }
};

struct WithoutSquare : Toy {
  void sqr() = delete;
};
struct WithAnotherElement : Toy {
  struct Element {};
};
struct WithoutWidth : Toy {
  static constexpr const char* kWords = "";
};
struct WithoutConstructor : Toy {
  WithoutConstructor() = delete;
};
struct WithConstants : Toy {
  WithConstants(Group group, LaneMemory memory, WordSource n, const void*) : Toy(group, memory, n) {}
  [[nodiscard]] bool refused() const { return false; }
};

static_assert(gpu::ProgramMultiplier<Toy> && gpu::MultiplierOf<Toy, Group>);
static_assert(!gpu::MultiplierWithConstants<Toy, Group> && !gpu::RefusingMultiplier<Toy>);
static_assert(gpu::MultiplierOf<WithConstants, Group> && gpu::MultiplierWithConstants<WithConstants, Group> &&
              gpu::RefusingMultiplier<WithConstants>);
static_assert(!gpu::ProgramMultiplier<WithoutSquare>);
static_assert(!gpu::ProgramMultiplier<WithAnotherElement>);
static_assert(!gpu::ProgramMultiplier<WithoutWidth>);
static_assert(gpu::ProgramMultiplier<WithoutConstructor> && !gpu::MultiplierOf<WithoutConstructor, Group>);
static_assert(gpu::MultiplierOf<row32::Multiplier<Group, 2>, Group>);

// The interpreter takes the toy: its result is what from_words read.
TEST(ProgramMultiplier, InterpreterRunsIt) {
  const std::uint32_t modulus[] = {15, 0}, operand[] = {7, 0};
  std::uint32_t result[] = {1, 1};
  gpu::Step load;
  load.source = gpu::Source::operand;
  load.load = true;
  load.squarings = 3;
  gpu::ProgramJob job;
  job.steps = &load;
  job.step_count = 1;
  job.count = 1;
  job.modulus = {modulus, 2, 0};
  job.operands[0] = {operand, 2, 0};
  job.result = result;
  job.result_width = 2;
  struct Storing : Toy {
    using Toy::Toy;
    // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): the interpreter takes the derived class
    void to_words(WordSink r, const Element& a) const {
      r.set(0, a.word);
      r.set(1, 0);
    }
  };
  test::run_lockstep<1>([&](const Group& group) {
    gpu::Interpreter<Storing>(group, LaneMemory{}, job, gpu::Table{}, 0).run(true);
  });
  EXPECT_EQ(result[0], 7u);
  EXPECT_EQ(result[1], 0u);
}

}  // namespace
}  // namespace manymod::testing
