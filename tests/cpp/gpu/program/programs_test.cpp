// SPDX-License-Identifier: Apache-2.0
// The programs of gpu/program/programs.hpp, run by the interpreter on the host, and the residues that they
// start from.
#include "gpu/program/programs.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "gpu/kernels/residue_item.cuda.hpp"
#include "gpu/program/interpreter.cuda.hpp"
#include "modmul/dpf52/multiplier.cuda.hpp"
#include "modmul/row32/multiplier.cuda.hpp"
#include "support/device_multiplier.hpp"

namespace manymod::test {
namespace {

// value 2^zero_bits mod n, or its negative, as a thread of the kernel mm_residue computes it.
Words residue(const Words& value, const Words& n, std::uint32_t zero_bits, bool negate) {
  const auto words = static_cast<std::uint32_t>(n.size());
  const auto negative = static_cast<std::uint8_t>(negate);
  Words memory(2 * std::size_t{words});
  GuardedResult result(words + 2);
  gpu::ResidueJob job;
  job.modulus = {n.data(), words, words};
  if (!value.empty()) job.value = {value.data(), static_cast<std::uint32_t>(value.size()), 0};
  job.negative = &negative;
  job.words = words;
  job.zero_bits = zero_bits;
  job.count = 1;
  const WordSink sink = sink_of(result, words + 2);
  job.result = sink.words;
  job.result_width = sink.count;
  gpu::compute_residue(job, 0, {memory.data(), 1});
  EXPECT_TRUE(result.guards_intact());
  const Words all = result.words();
  EXPECT_EQ(all[words], 0u);
  EXPECT_EQ(all[words + 1], 0u);
  return {all.begin(), all.begin() + words};
}

// Moduli of `words` words, of which one of the upper two is not 0.
std::vector<Words> full_moduli(naive::Generator& generate, std::size_t words) {
  std::vector<Words> moduli = edge_moduli(generate, words, 8);
  std::erase_if(moduli, [](const Words& n) { return significant_words(n) + 1 < n.size(); });
  moduli.push_back(power_of_two(32 * words - 64, words));
  moduli.back()[0] |= words == 2 ? 3 : 1;
  return moduli;
}

TEST(DeviceResidue, OfNumbersOfAnyLength) {
  naive::Generator generate(5);
  for (const std::size_t words : {2u, 4u, 6u, 12u}) {
    for (const Words& n : full_moduli(generate, words)) {
      const MontgomeryOracle oracle(n, 64);
      for (const std::size_t size : {std::size_t{1}, words - 1, words, words + 1, 3 * words}) {
        for (const Words& a :
             {edge_words(generate, size), run_of_ones(0, 32 * size, size), Words(size, 0), n}) {
          const Words expected = oracle.reduce(a);
          ASSERT_EQ(residue(a, n, 0, false), expected);
          Words minus_one = n;
          --minus_one[0];
          ASSERT_EQ(residue(a, n, 0, true), oracle.times(expected, minus_one));
        }
      }
    }
  }
}

TEST(DeviceResidue, OfPowersOfTwo) {
  naive::Generator generate(6);
  for (const std::size_t words : {2u, 4u, 10u}) {
    for (const Words& n : full_moduli(generate, words)) {
      const MontgomeryOracle oracle(n, 64);
      for (const std::uint32_t bits : {0u, 1u, 31u, 32u, 33u, 97u}) {
        const std::size_t exponent = 32 * (words - 2) + bits;
        ASSERT_EQ(residue({}, n, bits, false), oracle.reduce(power_of_two(exponent, exponent / 32 + 1)));
      }
    }
  }
}

TEST(DeviceProgramSteps, CountRunsOfEqualSelections) {
  const gpu::Program power = gpu::fixed_window_program(64, 23, 5, true);
  std::vector<std::uint32_t> counts;
  for (const gpu::Step& step : power.steps) {
    if (step.source == gpu::Source::digit) {
      counts.push_back(step.selection_run);
    } else {
      EXPECT_EQ(step.selection_run, 1U);
    }
  }
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{5, 4, 3, 2, 1}));
  // The digits of two exponents alternate.
  for (const gpu::Step& step : gpu::interleaved_windows_program(64, 2, 23, 5).steps) {
    EXPECT_EQ(step.selection_run, 1U);
  }
}

template <class Shape>
class DevicePrograms : public testing::Test {
 protected:
  using Multiplier = typename Shape::Multiplier;
  static constexpr unsigned kWords = Shape::kWords;
  static constexpr unsigned kLanes = Shape::kThreads;
  static constexpr unsigned kRadixBits = Multiplier::kRadixBits;

  // Runs a program for one item whose operands are given, and keeps its table.
  struct Run {
    Words result;
    std::vector<std::uint32_t> table;
  };

  Run run(const gpu::Program& program, const Words& n, const std::vector<Words>& operands,
          const std::vector<std::uint32_t>* comb = nullptr) {
    const MontgomeryOracle oracle(n, kRadixBits);
    const std::uint32_t bits = gpu::start_power(kRadixBits).bits;
    const Words start = oracle.to_montgomery(power_of_two(bits, bits / 32 + 1));
    GuardedResult result(n.size());
    GuardedColumns memory(kLanes, Multiplier::kSharedWords);
    Run done;
    done.table.assign(std::size_t{program.slots} * Multiplier::kLaneWords * kLanes + 4, 0);
    gpu::ProgramJob job;
    job.steps = program.steps.data();
    job.step_count = static_cast<std::uint32_t>(program.steps.size());
    job.count = 1;
    job.modulus = operand(n);
    job.start = operand(start);
    for (std::size_t i = 0; i < operands.size(); ++i) job.operands[i] = operand(operands[i]);
    job.result = result.data();
    job.result_width = static_cast<std::uint32_t>(n.size());
    job.scan = program.scan;
    job.comb = comb == nullptr ? nullptr : comb->data();
    job.comb_threads = kLanes;
    run_lockstep<kLanes>([&](typename Shape::Group group) {
      const LaneMemory own{memory.column(group.lane()), memory.stride()};
      gpu::Interpreter<Multiplier>(group, own, job, {done.table.data(), kLanes, group.lane()}, 0).run(true);
    });
    EXPECT_TRUE(result.guards_intact() && memory.guards_intact());
    done.result = result.words();
    return done;
  }

  static gpu::DeviceOperand operand(const Words& words) {
    return {words.data(), static_cast<std::uint32_t>(words.size()), 0};
  }

  static std::vector<std::uint64_t> limbs_of(const Words& words) {
    return naive::limbs(words, (words.size() + 1) / 2);
  }
};

using Shapes = testing::Types<DeviceShape<row32::Multiplier, 1, 4>, DeviceShape<row32::Multiplier, 2, 2>,
                              DeviceShape<dpf52::Multiplier, 1, 4>>;
TYPED_TEST_SUITE(DevicePrograms, Shapes, DeviceShapeNames);

TYPED_TEST(DevicePrograms, FixedWindows) {
  naive::Generator generate(7);
  for (const Words& n : edge_moduli(generate, TestFixture::kWords, 2)) {
    const MontgomeryOracle oracle(n, TestFixture::kRadixBits);
    const Words base = edge_words(generate, TestFixture::kWords);
    for (const std::uint32_t bits : {0u, 1u, 37u, 64u}) {
      Words exponent = edge_words(generate, 2);
      if (bits < 64) exponent[bits / 32] &= (1u << (bits % 32)) - 1;
      if (bits <= 32) exponent[1] = 0;
      for (const std::uint32_t window : {1u, 3u, 5u}) {
        for (const bool secret : {false, true}) {
          const auto program = gpu::fixed_window_program(TestFixture::kRadixBits, bits, window, secret);
          ASSERT_EQ(program.scan, secret);
          ASSERT_EQ(this->run(program, n, {base, exponent}).result,
                    oracle.power(oracle.reduce(base), exponent))
              << bits << " bits, windows of " << window;
        }
      }
    }
  }
}

TYPED_TEST(DevicePrograms, SlidingWindows) {
  naive::Generator generate(8);
  const std::vector<Words> moduli = edge_moduli(generate, TestFixture::kWords, 1);
  for (const std::uint64_t e : {0ull, 1ull, 2ull, 3ull, 8ull, 65537ull, 0xfedcba9876543210ull, ~0ull}) {
    const Words& n = moduli[generate.below(moduli.size())];
    const Words base = edge_words(generate, TestFixture::kWords), exponent = word_number(e, 2);
    const auto schedule = best_sliding_schedule(TestFixture::limbs_of(exponent));
    const auto program = gpu::sliding_window_program(TestFixture::kRadixBits, schedule);
    const MontgomeryOracle oracle(n, TestFixture::kRadixBits);
    ASSERT_EQ(this->run(program, n, {base, exponent}).result, oracle.power(oracle.reduce(base), e)) << e;
  }
}

TYPED_TEST(DevicePrograms, ProductsOfPowers) {
  naive::Generator generate(9);
  const Words n = edge_moduli(generate, TestFixture::kWords, 1).back();
  const MontgomeryOracle oracle(n, TestFixture::kRadixBits);
  for (const std::uint32_t terms : {1u, 2u, 5u}) {
    for (const std::uint32_t bits : {0u, 50u}) {
      std::vector<Words> operands;
      for (std::uint32_t t = 0; t < terms; ++t) operands.push_back(edge_words(generate, TestFixture::kWords));
      Words expected = oracle.reduce(word_number(1, 1));
      for (std::uint32_t t = 0; t < terms; ++t) {
        operands.push_back(bits == 0 ? Words(2, 0) : edge_words(generate, 2));
        operands.back()[1] &= 0x3ffff;
        expected = oracle.times(expected, oracle.power(oracle.reduce(operands[t]), operands.back()));
      }
      const auto program = gpu::interleaved_windows_program(TestFixture::kRadixBits, terms, bits, 3);
      ASSERT_EQ(this->run(program, n, operands).result, expected) << terms << " terms";
    }
  }
}

TYPED_TEST(DevicePrograms, Combs) {
  naive::Generator generate(10);
  const Words n = edge_moduli(generate, TestFixture::kWords, 1).back();
  const MontgomeryOracle oracle(n, TestFixture::kRadixBits);
  const Words base = edge_words(generate, TestFixture::kWords);
  for (const CombShape& shape : {CombShape{1, 1, 30, 30}, CombShape{3, 2, 11, 6}, CombShape{4, 3, 8, 3}}) {
    const auto table = this->run(gpu::comb_table_program(TestFixture::kRadixBits, shape), n, {base}).table;
    for (int i = 0; i < 4; ++i) {
      Words exponent = i == 0 ? Words(1, 0) : edge_words(generate, 1);
      exponent[0] &= static_cast<std::uint32_t>((std::uint64_t{1} << (shape.teeth * shape.rows)) - 1);
      for (const bool secret : {false, true}) {
        ASSERT_EQ(this->run(gpu::comb_power_program(shape, secret), n, {exponent}, &table).result,
                  oracle.power(oracle.reduce(base), exponent));
      }
    }
  }
}

TYPED_TEST(DevicePrograms, Products) {
  naive::Generator generate(11);
  for (const Words& n : edge_moduli(generate, TestFixture::kWords, 4)) {
    const MontgomeryOracle oracle(n, TestFixture::kRadixBits);
    const Words x = edge_words(generate, TestFixture::kWords),
                y = oracle.reduce(edge_words(generate, TestFixture::kWords));
    ASSERT_EQ(this->run(gpu::product_program(TestFixture::kRadixBits, 1), n, {x, y}).result,
              oracle.times(x, y));
  }
}

TYPED_TEST(DevicePrograms, Squares) {
  naive::Generator generate(13);
  for (const Words& n : edge_moduli(generate, TestFixture::kWords, 4)) {
    const MontgomeryOracle oracle(n, TestFixture::kRadixBits);
    const Words x = oracle.reduce(edge_words(generate, TestFixture::kWords));
    ASSERT_EQ(this->run(gpu::product_program(TestFixture::kRadixBits, 0), n, {x}).result, oracle.times(x, x));
  }
}

TYPED_TEST(DevicePrograms, ProductsWithoutMontgomeryForm) {
  naive::Generator generate(14);
  for (const Words& n : edge_moduli(generate, TestFixture::kWords, 4)) {
    const MontgomeryOracle oracle(n, TestFixture::kRadixBits);
    const Words x = edge_words(generate, TestFixture::kWords), y = edge_words(generate, TestFixture::kWords),
                z = oracle.reduce(edge_words(generate, TestFixture::kWords));
    const gpu::Program program = gpu::plain_product_program(3);
    ASSERT_FALSE(program.needs_start());
    ASSERT_EQ(this->run(program, n, {x, y, z}).result, oracle.montgomery(oracle.montgomery(x, y), z));
    ASSERT_EQ(this->run(gpu::plain_product_program(2), n, {x, z}).result, oracle.montgomery(x, z));
  }
}

TYPED_TEST(DevicePrograms, ScaledPowers) {
  naive::Generator generate(15);
  const std::vector<Words> moduli = edge_moduli(generate, TestFixture::kWords, 1);
  for (const std::uint64_t e : {1ull, 2ull, 3ull, 65537ull, 0xfedcba9876543210ull, ~0ull}) {
    const Words& n = moduli[generate.below(moduli.size())];
    const MontgomeryOracle oracle(n, TestFixture::kRadixBits);
    const Words base = edge_words(generate, TestFixture::kWords), exponent = word_number(e, 2);
    const auto program = gpu::scaled_power_program(best_sliding_schedule(TestFixture::limbs_of(exponent)));
    ASSERT_FALSE(program.needs_start());
    const Words radix = oracle.to_montgomery(word_number(1, TestFixture::kWords));
    ASSERT_EQ(this->run(program, n, {base, oracle.power(radix, e)}).result,
              oracle.power(oracle.reduce(base), e))
        << e;
  }
}

TYPED_TEST(DevicePrograms, Repeated) {
  naive::Generator generate(12);
  const Words n = edge_moduli(generate, TestFixture::kWords, 1).back();
  const MontgomeryOracle oracle(n, TestFixture::kRadixBits);
  const Words x = edge_words(generate, TestFixture::kWords), y = edge_words(generate, TestFixture::kWords);
  Words product = oracle.reduce(x), square = product;
  for (int i = 0; i < 5; ++i) {
    product = oracle.montgomery(product, y);
    square = oracle.montgomery(square, square);
  }
  EXPECT_EQ(this->run(gpu::repeated_product_program(5), n, {x, y}).result, oracle.from_montgomery(product));
  EXPECT_EQ(this->run(gpu::repeated_square_program(5), n, {x}).result, oracle.from_montgomery(square));
}

}  // namespace
}  // namespace manymod::test
