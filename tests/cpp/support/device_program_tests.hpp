// SPDX-License-Identifier: Apache-2.0
// Tests of the interpreter of programs (gpu/program/interpreter.cuda.hpp) with any device multiplier, on the
// host. The programs are written by hand and use every kind of step.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "gpu/program/interpreter.cuda.hpp"
#include "support/device_multiplier.hpp"
#include "support/device_steps.hpp"

namespace manymod::test {

/// The table of a launch with three groups: one before and one after the group under test.
template <class Shape>
class DeviceTable {
 public:
  explicit DeviceTable(std::size_t slots) : size_(slots * kLaneWords * kThreads), chunks_(size_ / 4 + 1) {
    for (Chunk& chunk : chunks_) std::fill(std::begin(chunk.word), std::end(chunk.word), kGuardWord);
  }

  [[nodiscard]] gpu::Table of_lane(unsigned lane) {
    return {chunks_.front().word, kThreads, Shape::kThreads + lane};
  }
  /// True if the group wrote words of its own threads only.
  [[nodiscard]] bool guards_intact() const {
    for (std::size_t i = 0; i < 4 * chunks_.size(); ++i) {
      const std::size_t thread = i / kChunk % kThreads;
      const bool own = thread >= Shape::kThreads && thread < 2 * Shape::kThreads && i < size_;
      if (!own && chunks_[i / 4].word[i % 4] != kGuardWord) return false;
    }
    return true;
  }

 private:
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };
  static constexpr unsigned kThreads = 3 * Shape::kThreads;
  static constexpr unsigned kLaneWords = Shape::Multiplier::kLaneWords;
  static constexpr unsigned kChunk = kLaneWords % 4 == 0 ? 4 : kLaneWords % 2 == 0 ? 2 : 1;
  std::size_t size_;  // words
  std::vector<Chunk> chunks_;
};

/// The tests of one shape.
template <class Shape>
class DeviceProgram : public testing::Test {
 protected:
  using Multiplier = typename Shape::Multiplier;
  static constexpr unsigned kWords = Shape::kWords;
  static constexpr unsigned kLanes = Shape::kThreads;
  static constexpr unsigned kLaneWords = Multiplier::kLaneWords;
  static constexpr unsigned kRadixBits = Multiplier::kRadixBits;
  // Slots of the table: slot 0 holds R^2 mod n, slots 1 to 16 hold R times powers of the base.
  static constexpr std::uint32_t kSquaredRadix = 0;
  static constexpr std::uint32_t kPowers = 1;
  static constexpr std::uint32_t kSlots = 17;
  static constexpr unsigned kDigitBits = kWords * kLanes > 512 ? 2 : 4;
  static constexpr unsigned kExponentWords = kWords * kLanes > 64 ? 1 : 2;

  /// Moduli of a batch, and 2^(r + r / 2) mod n for each of them, where R = 2^r; its Montgomery square is
  /// R^2.
  struct Batch {
    explicit Batch(naive::Generator& generate, std::size_t count)
        : moduli(some(generate, count)), start(starts(moduli, count)) {}
    DeviceNumbers moduli;
    DeviceNumbers start;

    static std::vector<Words> some(naive::Generator& generate, std::size_t count) {
      std::vector<Words> all = edge_moduli(generate, kWords, 3);
      std::vector<Words> chosen;
      for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[generate.below(all.size())]);
      return chosen;
    }
    static std::vector<Words> starts(const DeviceNumbers& moduli, std::size_t count) {
      std::vector<Words> all;
      for (std::size_t i = 0; i < count; ++i) {
        const MontgomeryOracle oracle(moduli[i], kRadixBits);
        all.push_back(oracle.to_montgomery(power_of_two(kRadixBits / 2, kRadixBits / 64 + 1)));
      }
      return all;
    }
  };

  /// `count` numbers of `words` words at edges.
  static std::vector<Words> edge_numbers(naive::Generator& generate, std::size_t count, std::size_t words) {
    std::vector<Words> numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(edge_words(generate, words));
    return numbers;
  }

  /// A job with the batch's moduli and starting values.
  static gpu::ProgramJob job_of(const Batch& batch, const std::vector<gpu::Step>& steps) {
    gpu::ProgramJob job;
    job.steps = steps.data();
    job.step_count = static_cast<std::uint32_t>(steps.size());
    job.modulus = batch.moduli.operand();
    job.start = batch.start.operand();
    return job;
  }

  /// The results of all items, `width` words each. Checks that nothing else was written.
  static std::vector<Words> run(gpu::ProgramJob job, std::uint32_t count, std::uint32_t width) {
    GuardedResult result(std::size_t{count} * width);
    DeviceTable<Shape> table(kSlots);
    GuardedColumns memory(kLanes, Multiplier::kSharedWords);
    job.count = count;
    job.result = result.data();
    job.result_width = width;
    for (std::uint32_t item = 0; item < count; ++item) {
      run_lockstep<kLanes>([&](typename Shape::Group group) {
        const LaneMemory own{memory.column(group.lane()), memory.stride()};
        gpu::Interpreter<Multiplier> interpreter(group, own, job, table.of_lane(group.lane()), item);
        interpreter.run(true);
      });
    }
    EXPECT_TRUE(result.guards_intact() && table.guards_intact() && memory.guards_intact());
    const Words all = result.words();
    std::vector<Words> results;
    for (std::uint32_t i = 0; i < count; ++i) {
      results.emplace_back(all.begin() + std::ptrdiff_t{i} * width,
                           all.begin() + std::ptrdiff_t{i + 1} * width);
    }
    return results;
  }

  /// Appends steps that compute R^2 mod n from the job's start and store it in slot kSquaredRadix.
  static void add_squared_radix(std::vector<gpu::Step>& steps) {
    using namespace program;
    steps.push_back(load(Source::start));
    steps.push_back(stored(after_squarings({}, 1), kSquaredRadix));
  }

  /// base^e by fixed windows, where base is operand 0 and e consists of the low bits of operand 1.
  static std::vector<gpu::Step> power_steps(unsigned exponent_bits) {
    using namespace program;
    std::vector<gpu::Step> steps;
    add_squared_radix(steps);
    steps.push_back(stored(multiply(Source::one), kPowers));
    steps.push_back(load(Source::operand, 0));
    steps.push_back(stored(multiply(Source::slot, kSquaredRadix), kPowers + 1));
    for (std::uint32_t e = 2; e < 1u << kDigitBits; ++e) {
      steps.push_back(stored(multiply(Source::slot, kPowers + 1), kPowers + e));
    }
    const unsigned digits = (exponent_bits + kDigitBits - 1) / kDigitBits;
    for (unsigned d = digits; d-- > 0;) {
      const Digit digit{.exponent = 1, .first = d * kDigitBits, .stride = 1, .count = kDigitBits};
      const Step step = d + 1 == digits ? load(Source::digit, kPowers)
                                        : after_squarings(multiply(Source::digit, kPowers), kDigitBits);
      steps.push_back(by_digit(step, digit));
    }
    steps.push_back(multiply(Source::one));
    return steps;
  }

  /// R value mod n for each value, in the layout of ProgramJob::comb for a group's number of threads.
  static Words comb_of(const Words& n, const std::vector<Words>& values) {
    const MontgomeryOracle oracle(n, kRadixBits);
    Words comb(values.size() * kLanes * kLaneWords);
    EXPECT_TRUE(with_multiplier<Shape>(n, [&](const Multiplier& m, const auto& group) {
      for (std::size_t e = 0; e < values.size(); ++e) {
        const auto element = m.from_words(source_of(oracle.to_montgomery(values[e])));
        for (unsigned j = 0; j < kLaneWords; ++j) {
          constexpr unsigned kChunk = gpu::Interpreter<Multiplier>::kChunk;
          comb[(e * kLaneWords + j / kChunk * kChunk) * kLanes + group.lane() * kChunk + j % kChunk] =
              Multiplier::lane_word(element, j);
        }
      }
    }));
    return comb;
  }
};

TYPED_TEST_SUITE_P(DeviceProgram);

/// Powers are the same whether a digit's element is selected by reading the whole table (constant-time) or by
/// one access (variable-time). Exponents end within a word and are followed by words that the program
/// ignores.
TYPED_TEST_P(DeviceProgram, FixedWindowPower) {
  naive::Generator generate(11);
  const std::uint32_t count = 4;
  const typename TestFixture::Batch batch(generate, count);
  const DeviceNumbers bases(this->edge_numbers(generate, count, TestFixture::kWords));
  for (const std::size_t exponents : {std::size_t{1}, std::size_t{count}}) {
    const DeviceNumbers exponent(this->edge_numbers(generate, exponents, TestFixture::kExponentWords));
    const auto steps = this->power_steps(32 * TestFixture::kExponentWords + 7);
    gpu::ProgramJob job = this->job_of(batch, steps);
    job.operands[0] = bases.operand();
    job.operands[1] = exponent.operand();
    for (const bool scan : {true, false}) {
      job.scan = scan;
      const std::vector<Words> results = this->run(job, count, TestFixture::kWords);
      for (std::size_t i = 0; i < count; ++i) {
        const MontgomeryOracle oracle(batch.moduli[i], this->kRadixBits);
        ASSERT_EQ(results[i], oracle.power(oracle.reduce(bases[i]), exponent[i])) << "item " << i;
      }
    }
  }
}

/// A comb with three teeth, `stride` bits apart, whose powers all items share.
TYPED_TEST_P(DeviceProgram, Comb) {
  using namespace program;
  constexpr unsigned kTeeth = 3;
  constexpr unsigned kStride = 7;
  naive::Generator generate(12);
  const std::uint32_t count = 3;
  const typename TestFixture::Batch batch(generate, 1);
  const Words& n = batch.moduli[0];
  const MontgomeryOracle oracle(n, this->kRadixBits);
  const Words base = oracle.reduce(edge_words(generate, TestFixture::kWords));
  // Element 1 + d is the product of base^(2^(t kStride)) over the bits t of d. Element 0 does not belong to
  // the comb.
  std::vector<Words> values{word_number(2, TestFixture::kWords)};
  for (std::uint64_t d = 0; d < 1u << kTeeth; ++d) {
    const std::uint64_t exponent = (d & 1) | (d >> 1 & 1) << kStride | (d >> 2) << (2 * kStride);
    values.push_back(oracle.power(base, exponent));
  }
  const Words comb = this->comb_of(n, values);
  const DeviceNumbers exponents(this->edge_numbers(generate, count, 1));

  std::vector<gpu::Step> steps;
  for (unsigned b = kStride; b-- > 0;) {
    const Digit digit{.exponent = 5, .first = b, .stride = kStride, .count = kTeeth};
    const bool first = b + 1 == kStride;
    steps.push_back(
        by_digit(first ? load(Source::comb, 1) : after_squarings(multiply(Source::comb, 1), 1), digit));
  }
  steps.push_back(multiply(Source::one));
  gpu::ProgramJob job = this->job_of(batch, steps);
  job.operands[5] = exponents.operand();
  job.comb = comb.data();
  job.comb_threads = TestFixture::kLanes;
  for (const bool scan : {true, false}) {
    job.scan = scan;
    const std::vector<Words> results = this->run(job, count, TestFixture::kWords);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t exponent = exponents[i][0] & ((1u << (kTeeth * kStride)) - 1);
      ASSERT_EQ(results[i], oracle.power(base, exponent)) << "item " << i;
    }
  }
}

/// x = (a b)^(2^3) b^2 mod n, with factors that are not reduced, and results in fewer words than the shape
/// has.
TYPED_TEST_P(DeviceProgram, RepeatedMultiplications) {
  using namespace program;
  naive::Generator generate(13);
  const std::uint32_t count = 4;
  constexpr std::uint32_t kWidth = TestFixture::kWords - 1;
  std::vector<Words> moduli = TestFixture::Batch::some(generate, count);
  for (Words& n : moduli) {
    n.resize(kWidth);
    if (significant_words(n) == 1 && n[0] == 1) n[0] = 0xfffffffbu;
  }
  const DeviceNumbers short_moduli(moduli);
  const DeviceNumbers start(TestFixture::Batch::starts(short_moduli, count));
  const DeviceNumbers a(this->edge_numbers(generate, count, TestFixture::kWords));
  const DeviceNumbers b(std::vector<Words>{Words(TestFixture::kWords, 0xffffffffu)});

  std::vector<gpu::Step> steps;
  this->add_squared_radix(steps);
  steps.push_back(load(Source::operand, 1));
  steps.push_back(stored(multiply(Source::slot, 0), 2));
  steps.push_back(load(Source::operand, 0));
  steps.push_back(multiply(Source::slot, 0));
  steps.push_back(multiply(Source::slot, 2));
  Step twice = after_squarings(multiply(Source::slot, 2), 3);
  twice.multiplications = 2;
  steps.push_back(twice);
  steps.push_back(multiply(Source::one));

  gpu::ProgramJob job;
  job.steps = steps.data();
  job.step_count = static_cast<std::uint32_t>(steps.size());
  job.modulus = short_moduli.operand();
  job.start = start.operand();
  job.operands[0] = a.operand();
  job.operands[1] = b.operand();
  const std::vector<Words> results = this->run(job, count, kWidth);
  for (std::size_t i = 0; i < count; ++i) {
    const MontgomeryOracle oracle(short_moduli[i], this->kRadixBits);
    const Words x = oracle.power(oracle.times(oracle.reduce(a[i]), oracle.reduce(b[i])), 8);
    ASSERT_EQ(results[i], oracle.times(x, oracle.power(oracle.reduce(b[i]), 2))) << "item " << i;
  }
}

/// A group without an item of its own repeats another group's item and writes no result.
TYPED_TEST_P(DeviceProgram, IdleGroupsKeepNothing) {
  using Shape = TypeParam;
  naive::Generator generate(14);
  const typename TestFixture::Batch batch(generate, 1);
  const std::vector<gpu::Step> steps{program::load(program::Source::one)};
  GuardedResult result(Shape::kWords);
  GuardedColumns memory(Shape::kThreads, Shape::Multiplier::kSharedWords);
  DeviceTable<Shape> table(1);
  gpu::ProgramJob job = this->job_of(batch, steps);
  job.count = 1;
  job.result = result.data();
  job.result_width = Shape::kWords;
  run_lockstep<Shape::kThreads>([&](typename Shape::Group group) {
    const LaneMemory own{memory.column(group.lane()), memory.stride()};
    gpu::Interpreter<typename Shape::Multiplier> interpreter(group, own, job, table.of_lane(group.lane()), 0);
    interpreter.run(false);
  });
  EXPECT_EQ(result.words(), Words(Shape::kWords, kGuardWord));
  EXPECT_TRUE(result.guards_intact());
}

REGISTER_TYPED_TEST_SUITE_P(DeviceProgram, FixedWindowPower, Comb, RepeatedMultiplications,
                            IdleGroupsKeepNothing);

}  // namespace manymod::test
