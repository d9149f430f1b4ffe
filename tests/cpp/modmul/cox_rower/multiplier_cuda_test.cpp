// SPDX-License-Identifier: Apache-2.0
// The multiplier of cox_rower on the host: products, powers by the library's programs, and refused moduli.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/program/programs.hpp"
#include "modexp/comb.hpp"
#include "modexp/windows.hpp"
#include "support/brief.hpp"
#include "support/cox_rower.hpp"
#include "support/device_program_tests.hpp"
#include "support/residue_systems.hpp"

namespace manymod::test {
namespace {

using Item = ResidueItem;
using Outcome = ResidueOutcome;

/// The product of base B's primes.
template <class Shape>
Words radix_of() {
  Words radix{1};
  for (const std::uint32_t m : cox_rower::primes_of(Shape::kBases).b) radix = naive::multiply(radix, {m});
  return sized(radix, significant_words(radix));
}

template <class Shape>
class CoxRower : public testing::Test {
 protected:
  static constexpr unsigned kWords = Shape::kWords;

  static void expect_products(const Words& n, const Words& x, const Words& y) {
    expect_residue_products(n, x, y, radix_of<Shape>(),
                            [&](const auto& body) { return with_cox_rower<Shape>(n, body); });
  }

  /// `program` for one item. `table`: where its table's elements are left, as ProgramJob::comb has them;
  /// null: in a table with guards. `comb`: ProgramJob::comb.
  static Outcome run(const gpu::Program& program, const Item& item, Words* table = nullptr,
                     const Words* comb = nullptr) {
    const MontgomeryOracle oracle(item.n, 32);
    const Words radix = radix_of<Shape>(), start = oracle.times(radix, radix);
    GuardedResult result(kWords);
    DeviceTable<Shape> guarded(program.slots);
    if (table != nullptr) table->assign(std::size_t{2} * Shape::kThreads * program.slots, kGuardWord);
    std::uint8_t refused = 0xee;
    gpu::ProgramJob job = residue_job(program, item, start, Shape::constants(), result, refused);
    // Powers have a base and an exponent, those by combs an exponent alone.
    if (comb != nullptr) job.operands[0] = job.operands[1];
    if (comb != nullptr) job.comb = comb->data();
    job.comb_threads = Shape::kThreads;
    GuardedBlock<Shape> block;
    run_lockstep_block<Shape::kThreads>([&](typename Shape::Group group) {
      const gpu::Table own = table == nullptr ? guarded.of_lane(group.lane())
                                              : gpu::Table{table->data(), Shape::kThreads, group.lane()};
      gpu::Interpreter<typename Shape::Multiplier>(group, block.memory(), job, own, 0).run(true);
    });
    EXPECT_TRUE(result.guards_intact() && guarded.guards_intact() && block.guards_intact());
    EXPECT_LE(refused, 1);
    return {result.words(), refused != 0};
  }

  static bool is_refused(const Words& n) {
    for (const std::uint32_t m : cox_rower::primes_of(Shape::kBases).b) {
      if (naive::remainder(n, {m})[0] == 0) return true;
    }
    return false;
  }
};

TYPED_TEST_SUITE_P(CoxRower);

/// Extreme numbers, moduli much shorter than the shape among them.
TYPED_TEST_P(CoxRower, Products) {
  naive::Generator generate(31);
  for (const Words& n : edge_moduli(generate, TestFixture::kWords, kBriefTests ? 1 : 4)) {
    if (this->is_refused(n)) continue;
    const std::vector<Words> operands = edge_operands(generate, n, 1);
    const Words all_ones(TestFixture::kWords, 0xffffffffu);
    const std::size_t first = generate.below(operands.size());
    this->expect_products(n, operands[first], operands[(first + 2) % operands.size()]);
    this->expect_products(n, all_ones, all_ones);
    if (this->HasFatalFailure()) return;
  }
}

/// All products modulo small numbers.
TYPED_TEST_P(CoxRower, SmallModuli) {
  const Words radix = radix_of<TypeParam>();
  for (const std::uint32_t n : {3U, 5U, 7U}) {
    const Words modulus = word_number(n, TestFixture::kWords);
    const std::uint32_t m_b = MontgomeryOracle(modulus, 32).reduce(radix)[0];
    std::vector<GuardedResult> results(std::size_t{n} * n, GuardedResult(TestFixture::kWords));
    ASSERT_TRUE(with_cox_rower<TypeParam>(modulus, [&](const auto& m) {
      for (std::uint32_t i = 0; i < n * n; ++i) {
        const auto x = m.from_words(WordSource{nullptr, 0, i / n});
        m.to_words(sink_of(results[i], TestFixture::kWords),
                   m.mul(x, m.from_words(WordSource{nullptr, 0, i % n})));
      }
    }));
    for (std::uint32_t i = 0; i < n * n; ++i) {
      const Words r = results[i].words();
      ASSERT_EQ(r, word_number(r[0] % n, TestFixture::kWords));
      ASSERT_EQ(r[0] * m_b % n, (i / n) * (i % n) % n);
    }
  }
}

/// Powers by the library's programs: fixed windows in constant and in variable time, sliding windows of one
/// exponent, and windows of one bit, whose tables have fewer elements than a step of a selection reads.
TYPED_TEST_P(CoxRower, Powers) {
  naive::Generator generate(32);
  const std::vector<Words> moduli = edge_moduli(generate, TestFixture::kWords, 2);
  const unsigned wanted = TypeParam::kThreads < 200 ? 2 : 1;
  unsigned checked = 0;
  for (std::size_t i = 2; i < moduli.size() && checked < wanted; ++i) {
    if (this->is_refused(moduli[i])) continue;
    const Item item{moduli[i], edge_words(generate, TestFixture::kWords), edge_words(generate, 2)};
    const Words expected = expected_power(item);
    const naive::Limbs exponent = naive::limbs(item.exponent, 1);
    const std::vector<gpu::Program> programs = {
        gpu::fixed_window_program(0, 64, 1, true), gpu::fixed_window_program(0, 64, 5, true),
        gpu::fixed_window_program(0, 64, 4, false),
        gpu::sliding_window_program(0, sliding_schedule(exponent, 1)),
        gpu::sliding_window_program(0, best_sliding_schedule(exponent))};
    for (const gpu::Program& program : programs) {
      const Outcome outcome = this->run(program, item);
      ASSERT_FALSE(outcome.refused);
      ASSERT_EQ(outcome.result, expected);
    }
    ++checked;
  }
  EXPECT_EQ(checked, wanted);
}

/// Powers of a fixed base by combs, in constant and in variable time; elements of two entries are fewer than
/// a step of a selection reads.
TYPED_TEST_P(CoxRower, Combs) {
  naive::Generator generate(34);
  Item item{edge_moduli(generate, TestFixture::kWords, 2).back(), edge_words(generate, TestFixture::kWords),
            edge_words(generate, 2)};
  while (this->is_refused(item.n)) item.n[1] += 1;
  const Words expected = expected_power(item);
  for (const std::size_t teeth : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
    const std::size_t rows = (64 + teeth - 1) / teeth;
    const CombShape shape{.teeth = teeth, .blocks = 2, .rows = rows, .columns = (rows + 1) / 2};
    Words comb;
    this->run(gpu::comb_table_program(0, shape), item, &comb);
    for (const bool secret : {true, false}) {
      ASSERT_EQ(this->run(gpu::comb_power_program(shape, secret), item, nullptr, &comb).result, expected)
          << teeth << " teeth";
    }
  }
}

/// An element is right after a result has been stored: to_words leaves other threads' coordinates alone.
TYPED_TEST_P(CoxRower, ResultsBetweenProducts) {
  naive::Generator generate(35);
  Words n = edge_moduli(generate, TestFixture::kWords, 2).back();
  while (this->is_refused(n)) n[1] += 1;
  const MontgomeryOracle oracle(n, 32);
  const Words x = edge_words(generate, TestFixture::kWords), radix = radix_of<TypeParam>();
  GuardedResult first(TestFixture::kWords), second(TestFixture::kWords);
  ASSERT_TRUE(with_cox_rower<TypeParam>(n, [&](const auto& m) {
    const auto a = m.from_words(source_of(x)), one = m.from_words(WordSource{nullptr, 0, 1});
    const auto square = m.sqr(a);
    m.to_words(sink_of(first, TestFixture::kWords), m.mul(a, one));
    m.to_words(sink_of(second, TestFixture::kWords), m.mul(square, one));
  }));
  expect_quotient(oracle, n, first, oracle.reduce(x), oracle.reduce(radix));
  expect_quotient(oracle, n, second, oracle.times(x, x), oracle.times(radix, radix));
}

/// A modulus that shares a factor with M_B is refused, one that shares a factor with M_A is computed with.
TYPED_TEST_P(CoxRower, ModuliThatShareAFactorAreRefused) {
  const cox_rower::Primes primes = cox_rower::primes_of(TypeParam::kBases);
  naive::Generator generate(33);
  Words cofactor = sized(edge_words(generate, TestFixture::kWords - 1), TestFixture::kWords - 1);
  cofactor[0] |= 1;
  const auto power = [&](std::uint32_t factor) {
    const Words n = sized(naive::multiply(cofactor, {factor}), TestFixture::kWords);
    const Item item{n, edge_words(generate, TestFixture::kWords), {5}};
    return std::pair(this->run(gpu::fixed_window_program(0, 3, 2, false), item), expected_power(item));
  };
  EXPECT_TRUE(power(primes.b.front()).first.refused);
  EXPECT_TRUE(power(primes.b.back()).first.refused);
  while (this->is_refused(cofactor)) cofactor[1] += 1;
  const auto [outcome, expected] = power(primes.a.front());
  EXPECT_FALSE(outcome.refused);
  EXPECT_EQ(outcome.result, expected);
}

REGISTER_TYPED_TEST_SUITE_P(CoxRower, Products, SmallModuli, Powers, Combs, ResultsBetweenProducts,
                            ModuliThatShareAFactorAreRefused);

// Sanitizers multiply the time of each shape.
#if defined(MANYMOD_SANITIZED)
using Shapes = testing::Types<CoxRowerShape<64, 512>, CoxRowerShape<96, 1024>>;
#else
using Shapes = testing::Types<CoxRowerShape<64, 512>, CoxRowerShape<96, 1024>, CoxRowerShape<128, 1536>,
                              CoxRowerShape<288, 2048>, CoxRowerShape<224, 3072>, CoxRowerShape<608, 4096>>;
#endif
INSTANTIATE_TYPED_TEST_SUITE_P(CoxRower, CoxRower, Shapes, CoxRowerNames);

}  // namespace

// Only the table of the header is used here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceProgram);

}  // namespace manymod::test
