// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu/engine/constants.hpp"
#include "gpu/engine/technique.hpp"
#include "gpu/program/interpreter.cuda.hpp"
#include "gpu/program/programs.hpp"
#include "modexp/windows.hpp"
#include "modmul/rns_float/variants.cuda.hpp"
#include "support/device_program_tests.hpp"
#include "support/residue_systems.hpp"
#include "support/rns_float.hpp"

namespace manymod::test {
namespace {

using Item = ResidueItem;
using Outcome = ResidueOutcome;

template <class Shape>
struct Runner {
  using Multiplier = typename Shape::Multiplier;
  using ShapeBases = typename Multiplier::BasesOfShape;
  static constexpr unsigned kWords = Multiplier::kWords;

  static void expect_products(const Words& n, const Words& x, const Words& y) {
    expect_residue_products(n, x, y, radix_of<ShapeBases>(), [&](const auto& body) {
      return with_rns_multiplier<Shape>(n, rns_float_table<Shape>(),
                                        [&](const auto& m, const auto&) { body(m); });
    });
  }

  static Outcome run(const gpu::Program& program, const Item& item, const void* table) {
    const MontgomeryOracle oracle(item.n, 32);
    const Words radix = radix_of<ShapeBases>();
    return run_from(program, item, oracle.times(radix, radix), table);
  }

  /// `start`: M_B^2 mod n.
  static Outcome run_from(const gpu::Program& program, const Item& item, const Words& start,
                          const void* table) {
    GuardedResult result(kWords);
    DeviceTable<Shape> slots(program.slots);
    GuardedColumns memory(Shape::kThreads, Multiplier::kSharedWords);
    std::uint8_t refused = 0xee;
    const gpu::ProgramJob job = residue_job(program, item, start, table, result, refused);
    run_lockstep<Shape::kThreads>([&](typename Shape::Group group) {
      const LaneMemory own{memory.column(group.lane()), memory.stride()};
      gpu::Interpreter<Multiplier>(group, own, job, slots.of_lane(group.lane()), 0).run(true);
    });
    EXPECT_TRUE(result.guards_intact() && slots.guards_intact() && memory.guards_intact());
    EXPECT_LE(refused, 1);
    return {result.words(), refused != 0};
  }
};

template <class Shape>
class RnsFloat : public testing::Test, public Runner<Shape> {};

TYPED_TEST_SUITE_P(RnsFloat);

/// Extreme numbers, moduli much shorter than the shape among them; all moduli are prime to M_B.
TYPED_TEST_P(RnsFloat, Products) {
  naive::Generator generate(21);
  unsigned checked = 0;
  for (const Words& n : edge_moduli(generate, TestFixture::kWords, 2)) {
    if (is_refused<typename TestFixture::ShapeBases>(n)) continue;
    const std::vector<Words> operands = edge_operands(generate, n, 1);
    const std::size_t first = generate.below(operands.size());
    const Words& all_ones = operands[4];
    this->expect_products(n, operands[first], operands[(first + 2) % operands.size()]);
    this->expect_products(n, all_ones, TypeParam::kThreads < 16 ? operands[first] : all_ones);
    if (TypeParam::kThreads < 16) this->expect_products(n, all_ones, all_ones);
    if (this->HasFatalFailure()) return;
    ++checked;
  }
  EXPECT_GE(checked, 6U);
}

/// Powers by the library's programs: fixed windows in constant and in variable time, and binary and sliding
/// windows of one exponent.
TYPED_TEST_P(RnsFloat, Powers) {
  naive::Generator generate(22);
  const void* const table = rns_float_table<TypeParam>();
  std::vector<Words> moduli = edge_moduli(generate, TestFixture::kWords, 2);
  const unsigned wanted = TypeParam::kThreads < 16 ? 2 : 1;
  unsigned checked = 0;
  for (std::size_t i = 2; i < moduli.size() && checked < wanted; ++i) {
    if (is_refused<typename TestFixture::ShapeBases>(moduli[i])) continue;
    const Item item{moduli[i], edge_words(generate, TestFixture::kWords), edge_words(generate, 2)};
    const Words expected = expected_power(item);
    const naive::Limbs exponent = naive::limbs(item.exponent, 1);
    const std::vector<gpu::Program> programs = {
        gpu::fixed_window_program(0, 64, 3, true), gpu::fixed_window_program(0, 64, 4, false),
        gpu::sliding_window_program(0, sliding_schedule(exponent, 1)),
        gpu::sliding_window_program(0, best_sliding_schedule(exponent))};
    for (const gpu::Program& program : programs) {
      const Outcome outcome = this->run(program, item, table);
      ASSERT_FALSE(outcome.refused);
      ASSERT_EQ(outcome.result, expected);
    }
    ++checked;
  }
  EXPECT_EQ(checked, wanted);
}

/// A modulus that shares a factor with a channel is refused.
TYPED_TEST_P(RnsFloat, ModuliThatShareAFactorAreRefused) {
  using Bases = typename TestFixture::ShapeBases;
  constexpr rns_float::BaseView kB = rns_float::base_b<Bases>();
  naive::Generator generate(23);
  for (const unsigned i : {0U, kB.channels / 2, kB.channels - 1}) {
    for (const std::uint32_t factor : {kB.factor(i), kB.moduli[i] / kB.factor(i)}) {
      if (factor == 1) continue;
      Words cofactor = sized(edge_words(generate, TestFixture::kWords - 1), TestFixture::kWords - 1);
      cofactor[0] |= 1;
      for (const Words& other : {cofactor, Words{1}}) {
        const Words n = sized(naive::multiply(other, {factor}), TestFixture::kWords);
        const Item item{n, word_number(3, TestFixture::kWords), {5}};
        const Words start = word_number(1, TestFixture::kWords);
        const auto outcome = this->run_from(gpu::fixed_window_program(0, 3, 2, false), item, start,
                                            rns_float_table<TypeParam>());
        EXPECT_TRUE(outcome.refused) << "factor " << factor;
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(RnsFloat, Products, Powers, ModuliThatShareAFactorAreRefused);

// Sanitizers multiply the time of each shape: one of every form.
#if defined(MANYMOD_SANITIZED)
using Shapes = testing::Types<
    RnsFloatShape<rns_float::half::Multiplier, 4, 11>,
    RnsFloatShape<rns_float::half_packed::Multiplier, 8, 6>, RnsFloatShape<rns_float::full::Multiplier, 4, 6>,
    RnsFloatShape<rns_float::smooth::Multiplier, 8, 3>, RnsFloatShape<rns_float::pairs::Multiplier, 16, 3>,
    RnsFloatShape<rns_float::half_loaded::Multiplier, 16, 6>,
    RnsFloatShape<rns_float::pairs_loaded::Multiplier, 16, 3>>;
#else
/// The shapes of the kernels, shapes with idle channels, and forms with tables in memory.
using Shapes = testing::Types<
    RnsFloatShape<rns_float::half::Multiplier, 8, 6>, RnsFloatShape<rns_float::half::Multiplier, 16, 6>,
    RnsFloatShape<rns_float::half::Multiplier, 32, 6>, RnsFloatShape<rns_float::half::Multiplier, 4, 11>,
    RnsFloatShape<rns_float::half_packed::Multiplier, 8, 6>,
    RnsFloatShape<rns_float::half_packed::Multiplier, 16, 6>,
    RnsFloatShape<rns_float::full::Multiplier, 4, 6>, RnsFloatShape<rns_float::full::Multiplier, 8, 6>,
    RnsFloatShape<rns_float::full::Multiplier, 16, 6>, RnsFloatShape<rns_float::full::Multiplier, 2, 12>,
    RnsFloatShape<rns_float::smooth::Multiplier, 8, 3>, RnsFloatShape<rns_float::smooth::Multiplier, 16, 3>,
    RnsFloatShape<rns_float::smooth::Multiplier, 32, 3>, RnsFloatShape<rns_float::pairs::Multiplier, 8, 3>,
    RnsFloatShape<rns_float::pairs::Multiplier, 16, 3>, RnsFloatShape<rns_float::pairs::Multiplier, 32, 3>,
    RnsFloatShape<rns_float::pairs::Multiplier, 1, 24>,
    RnsFloatShape<rns_float::half_loaded::Multiplier, 16, 6>,
    RnsFloatShape<rns_float::full_loaded::Multiplier, 8, 6>,
    RnsFloatShape<rns_float::smooth_loaded::Multiplier, 8, 3>,
    RnsFloatShape<rns_float::pairs_loaded::Multiplier, 16, 3>>;
#endif
INSTANTIATE_TYPED_TEST_SUITE_P(RnsFloat, RnsFloat, Shapes, RnsFloatNames);

/// All representations compute the same power.
template <class... AllShapes>
void expect_all_agree(const Item& item, const gpu::Program& program) {
  const Words expected = expected_power(item);
  const auto agrees = [&]<class Shape>(Shape*) {
    const Outcome outcome = Runner<Shape>::run(program, item, rns_float_table<Shape>());
    EXPECT_FALSE(outcome.refused);
    EXPECT_EQ(outcome.result, expected) << RnsFloatNames::GetName<Shape>(0);
  };
  (agrees(static_cast<AllShapes*>(nullptr)), ...);
}

TEST(RnsFloatRepresentations, Agree) {
  naive::Generator generate(24);
  const std::uint32_t words = 16;
  for (int done = 0; done < 6;) {
    Item item{edge_words(generate, words), edge_words(generate, words), edge_words(generate, 1)};
    item.n[0] |= 1;
    if (is_refused<rns::Half512>(item.n) || is_refused<rns::Fused512>(item.n) ||
        is_refused<rns::Smooth512>(item.n) || significant_words(item.n) < 2) {
      continue;
    }
    expect_all_agree<RnsFloatShape<rns_float::half::Multiplier, 8, 6>,
                     RnsFloatShape<rns_float::half_packed::Multiplier, 8, 6>,
                     RnsFloatShape<rns_float::full::Multiplier, 4, 6>,
                     RnsFloatShape<rns_float::smooth::Multiplier, 8, 3>,
                     RnsFloatShape<rns_float::pairs::Multiplier, 8, 3>,
                     RnsFloatShape<rns_float::half_loaded::Multiplier, 8, 6>>(
        item, gpu::fixed_window_program(0, 32, 4, done % 2 == 0));
    ++done;
  }
}

/// A kernel that reads its tables from memory also computes with narrower bases.
TEST(RnsFloatLoaded, ServesNarrowerBases) {
  using Shape = RnsFloatShape<rns_float::half_loaded::Multiplier, 16, 6>;
  static_assert(std::is_same_v<Shape::Multiplier::BasesOfShape, rns::Half1024>);
  naive::Generator generate(25);
  Item item{edge_words(generate, 16), edge_words(generate, 16), {0xabcdef01}};
  do {
    item.n = edge_words(generate, 16);
    item.n[0] |= 1;
  } while (is_refused<rns::Half512>(item.n));
  const Words radix = radix_of<rns::Half512>();
  const MontgomeryOracle oracle(item.n, 32);
  const Words expected = sized(expected_power(item), Shape::kWords);
  const Words start = sized(oracle.times(radix, radix), Shape::kWords);
  item.n = sized(item.n, Shape::kWords);
  item.base = sized(item.base, Shape::kWords);
  const auto table = rns_float_table<Shape, rns::Half512>();
  const Outcome outcome =
      Runner<Shape>::run_from(gpu::fixed_window_program(0, 32, 4, false), item, start, table);
  EXPECT_FALSE(outcome.refused);
  EXPECT_EQ(outcome.result, expected);
}

/// The host uploads the tables of those kernels that read them, and no others.
TEST(RnsFloatTables, OnlyThoseThatAreNotCompiledIn) {
  using OfManyChannels = rns_float::half::Multiplier<cuda::ThreadGroup<32>, 6>;
  static_assert(OfManyChannels::BasesOfShape::kChannels > rns_float::kMaxCompiledInChannels);
  const auto& table = rns_float::host_table<rns_float::HalfWord, rns::Half2048, 32, 6>();
  const std::span<const std::byte> expected = std::as_bytes(std::span(table.words));
  for (const gpu::Technique& technique : rns_float::cuda_techniques()) {
    for (const gpu::Shape& shape : technique.shapes) {
      const std::vector<std::byte> brought = technique.constants->of_shape(shape);
      const std::string kernel = shape.kernel;
      if (kernel == "rns_float_half_32x6") {
        EXPECT_TRUE(std::ranges::equal(brought, expected));
      } else {
        EXPECT_EQ(!brought.empty(), kernel == "rns_float_half_packed_32x6") << kernel;
      }
      EXPECT_FALSE(technique.constants->radix_squared(shape).empty());
    }
  }
}

}  // namespace

// Only the table of the header is used here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceProgram);

}  // namespace manymod::test
