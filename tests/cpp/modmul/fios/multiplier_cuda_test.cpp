// SPDX-License-Identifier: Apache-2.0
// The device multipliers of fios on the host, for each radix and place of operands: the tests of all device
// multipliers, and tests of fios only: canonical results, sums, differences, operations in place, bounds of
// unreduced products.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch/cuda/words.cuda.hpp"
#include "modmul/fios/arithmetic.cuda.hpp"
#include "modmul/fios/digits.cuda.hpp"
#include "modmul/fios/multiplier.cuda.hpp"
#include "modmul/fios/rows.cuda.hpp"
#include "support/device_multiplier_tests.hpp"
#include "support/device_program_tests.hpp"
#include "support/device_values.hpp"
#include "support/lockstep.hpp"
#include "support/naive.hpp"

namespace manymod::test {
namespace {

// On the host, operands in local memory do not differ from operands in registers.
template <template <class, unsigned> class Technique>
using Shapes =
    testing::Types<DeviceShape<Technique, 1, 5>, DeviceShape<Technique, 1, 8>, DeviceShape<Technique, 1, 12>>;
template <template <class, unsigned> class Technique>
using LocalShapes = testing::Types<DeviceShape<Technique, 1, 7>, DeviceShape<Technique, 1, 16>>;
// Fewer shapes in sanitizer builds, which are several times slower.
#if defined(MANYMOD_SANITIZED)
template <template <class, unsigned> class Technique>
using GroupShapes = testing::Types<DeviceShape<Technique, 4, 8>, DeviceShape<Technique, 32, 2>>;
#else
template <template <class, unsigned> class Technique>
using GroupShapes = testing::Types<DeviceShape<Technique, 2, 3>, DeviceShape<Technique, 2, 16>,
                                   DeviceShape<Technique, 4, 8>, DeviceShape<Technique, 8, 2>,
                                   DeviceShape<Technique, 16, 2>, DeviceShape<Technique, 32, 2>>;
#endif
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix16Registers, DeviceMultiplier,
                               Shapes<fios::radix16_registers::Multiplier>, DeviceShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix16Shared, DeviceMultiplier, Shapes<fios::radix16_shared::Multiplier>,
                               DeviceShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix16Local, DeviceMultiplier,
                               LocalShapes<fios::radix16_local::Multiplier>, DeviceShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix32Registers, DeviceMultiplier,
                               Shapes<fios::radix32_registers::Multiplier>, DeviceShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix32Shared, DeviceMultiplier, Shapes<fios::radix32_shared::Multiplier>,
                               DeviceShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix32Local, DeviceMultiplier,
                               LocalShapes<fios::radix32_local::Multiplier>, DeviceShapeNames);

// The same for groups, which have their operands in registers or in shared memory.
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix16RegistersGroups, DeviceMultiplier,
                               GroupShapes<fios::radix16_registers::Multiplier>, DeviceShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix16SharedGroups, DeviceMultiplier,
                               GroupShapes<fios::radix16_shared::Multiplier>, DeviceShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix32RegistersGroups, DeviceMultiplier,
                               GroupShapes<fios::radix32_registers::Multiplier>, DeviceShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(FiosRadix32SharedGroups, DeviceMultiplier,
                               GroupShapes<fios::radix32_shared::Multiplier>, DeviceShapeNames);

#if !defined(MANYMOD_SANITIZED)
using WidestShapes = testing::Types<DeviceShape<fios::radix32_registers::Multiplier, 32, 8>>;
INSTANTIATE_TYPED_TEST_SUITE_P(FiosWidest, DeviceMultiplier, WidestShapes, DeviceShapeNames);
#endif

using SmallShapes = testing::Types<DeviceShape<fios::radix16_registers::Multiplier, 1, 1>,
                                   DeviceShape<fios::radix16_registers::Multiplier, 1, 2>,
                                   DeviceShape<fios::radix16_shared::Multiplier, 1, 2>,
                                   DeviceShape<fios::radix16_local::Multiplier, 1, 2>,
                                   DeviceShape<fios::radix32_registers::Multiplier, 1, 2>,
                                   DeviceShape<fios::radix32_shared::Multiplier, 1, 3>,
                                   DeviceShape<fios::radix16_registers::Multiplier, 2, 1>,
                                   DeviceShape<fios::radix16_shared::Multiplier, 4, 1>,
                                   DeviceShape<fios::radix32_registers::Multiplier, 2, 2>,
                                   DeviceShape<fios::radix32_shared::Multiplier, 2, 2>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Fios, DeviceMultiplierExhaustive, SmallShapes);

using ProgramShapes = testing::Types<DeviceShape<fios::radix16_registers::Multiplier, 1, 6>,
                                     DeviceShape<fios::radix16_shared::Multiplier, 1, 5>,
                                     DeviceShape<fios::radix32_shared::Multiplier, 1, 7>,
                                     DeviceShape<fios::radix32_local::Multiplier, 1, 12>,
                                     DeviceShape<fios::radix16_registers::Multiplier, 8, 1>,
                                     DeviceShape<fios::radix16_registers::Multiplier, 32, 1>,
                                     DeviceShape<fios::radix16_shared::Multiplier, 4, 2>,
                                     DeviceShape<fios::radix32_registers::Multiplier, 2, 4>,
                                     DeviceShape<fios::radix32_shared::Multiplier, 16, 2>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Fios, DeviceProgram, ProgramShapes);

template <class Shape>
class Fios : public testing::Test {};
using ArithmeticShapes = testing::Types<
    DeviceShape<fios::radix16_registers::Multiplier, 1, 5>,
    DeviceShape<fios::radix16_shared::Multiplier, 1, 7>, DeviceShape<fios::radix16_local::Multiplier, 1, 8>,
    DeviceShape<fios::radix32_registers::Multiplier, 1, 5>,
    DeviceShape<fios::radix32_shared::Multiplier, 1, 12>, DeviceShape<fios::radix32_local::Multiplier, 1, 7>,
    DeviceShape<fios::radix16_registers::Multiplier, 2, 1>,
    DeviceShape<fios::radix16_shared::Multiplier, 4, 2>,
    DeviceShape<fios::radix32_registers::Multiplier, 8, 2>,
    DeviceShape<fios::radix32_shared::Multiplier, 2, 5>,
    DeviceShape<fios::radix16_registers::Multiplier, 16, 1>,
    DeviceShape<fios::radix32_shared::Multiplier, 32, 2>>;
TYPED_TEST_SUITE(Fios, ArithmeticShapes);

/// a + b mod n, or a - b mod n if sign < 0. On input: a, b < n.
Words sum_mod(const Words& a, Words b, const Words& n, int sign) {
  std::int64_t carry = 0;
  if (sign < 0) {  // n - b
    for (std::size_t j = 0; j < n.size(); ++j) {
      carry += std::int64_t{n[j]} - b[j];
      b[j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  Words sum(n.size() + 1, 0);
  std::uint64_t total = 0;
  for (std::size_t j = 0; j < n.size(); ++j) {
    total += std::uint64_t{a[j]} + b[j];
    sum[j] = static_cast<std::uint32_t>(total);
    total >>= 32;
  }
  sum[n.size()] = static_cast<std::uint32_t>(total);
  return sized(naive::remainder(sum, n), n.size());
}

TYPED_TEST(Fios, SumsDifferencesAndCanonicalProducts) {
  using Shape = TypeParam;
  naive::Generator generate(6);
  for (const Words& n : edge_moduli(generate, Shape::kWords, 8)) {
    const MontgomeryOracle oracle(n, Shape::Multiplier::kRadixBits);
    const std::vector<Words> operands = edge_operands(generate, n, 4);
    const std::size_t partners = Shape::kCost <= 64 ? operands.size() : 1;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      for (std::size_t j = 0; j < partners; ++j) {
        const Words& any = operands[i];
        const Words& other = operands[(i + j + 1) % operands.size()];
        const Words a = oracle.reduce(any);
        const Words b = oracle.reduce(other);
        GuardedResult sum(Shape::kWords);
        GuardedResult difference(Shape::kWords);
        GuardedResult product(Shape::kWords);
        GuardedResult square(Shape::kWords);
        ASSERT_TRUE(with_multiplier<Shape>(n, [&](const auto& m, const auto&) {
          const auto x = m.from_words(source_of(a));
          const auto y = m.from_words(source_of(b));
          m.to_words(sink_of(sum, Shape::kWords), m.add(x, y));
          m.to_words(sink_of(difference, Shape::kWords), m.sub(x, y));
          // The result is below n if one factor is: x is one, on either side.
          m.to_words(sink_of(product, Shape::kWords), m.mul(m.from_words(source_of(other)), x));
          m.to_words(sink_of(square, Shape::kWords), m.sqr(x));
        }));
        ASSERT_EQ(sum.words(), sum_mod(a, b, n, 1));
        ASSERT_EQ(difference.words(), sum_mod(a, b, n, -1));
        ASSERT_EQ(product.words(), oracle.montgomery(other, a));
        ASSERT_EQ(square.words(), oracle.montgomery(a, a));
        ASSERT_TRUE(sum.guards_intact() && difference.guards_intact());
      }
    }
  }
}

/// The result of a sum or a difference may overwrite an operand.
TEST(FiosArithmetic, InPlace) {
  constexpr unsigned kDigits = 3;
  using Arithmetic = fios::Arithmetic<fios::Radix<16>, fios::InSharedMemory, kDigits>;
  const std::uint32_t n[kDigits] = {0xffff, 0x1234, 0xffff};
  std::uint32_t a[kDigits] = {0xfffe, 0x1234, 0xffff};  // n - 1
  const std::uint32_t b[kDigits] = {2, 0, 0};
  Arithmetic::add(a, a, b, n);
  EXPECT_EQ(Words(a, a + kDigits), (Words{1, 0, 0}));
  Arithmetic::subtract(a, a, b, n);
  EXPECT_EQ(Words(a, a + kDigits), (Words{0xfffe, 0x1234, 0xffff}));
  Arithmetic::add(a, a, a, n);
  EXPECT_EQ(Words(a, a + kDigits), (Words{0xfffd, 0x1234, 0xffff}));
  Arithmetic::subtract(a, a, a, n);
  EXPECT_EQ(Words(a, a + kDigits), (Words{0, 0, 0}));
}

/// a + b, in one word more.
Words sum_of(const Words& a, const Words& b) {
  Words sum(a.size() + 1);
  std::uint64_t carry = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    carry += std::uint64_t{a[j]} + b[j];
    sum[j] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  sum[a.size()] = static_cast<std::uint32_t>(carry);
  return sum;
}

/// class Rows of kThreads lanes with kPerThread words each.
template <unsigned kBits, unsigned kThreads, unsigned kPerThread>
class LaneRows {
  using Radix = fios::Radix<kBits>;
  static constexpr unsigned kDigits = kPerThread * 32 / kBits;
  using Group = LockstepGroup<kThreads>;
  using Rows = fios::Rows<Group, Radix, fios::InRegisters, kDigits, Words>;

 public:
  static constexpr unsigned kWords = kThreads * kPerThread;

  /// a b / R, or a^2 / R if `square`, before the final subtraction: the sum of the parts of all lanes, in one
  /// word more than n.
  static Words sum(const Words& a, const Words& b, const Words& n, bool square) {
    Words kept(kWords);
    Words above(kWords);
    std::uint32_t top = 0;
    run_lockstep<kThreads>([&](Group group) {
      const Words own_n = digits(n, group.lane());
      const Words own_a = digits(a, group.lane());
      const Rows rows(group, own_n, cuda::negative_inverse(n[0]) & Radix::kMask);
      Words r(kDigits, kGuardWord);
      Words doubled(kDigits);
      for (unsigned j = 0; j < kDigits; ++j) {
        doubled[j] = (own_a[j] << 1 | (j > 0 ? own_a[j - 1] >> (kBits - 1) : 0)) & Radix::kMask;
      }
      const std::uint32_t own_top = square ? rows.square(r, doubled, own_a[kDigits - 1] >> (kBits - 1))
                                           : rows.product(r, own_a, digits(b, group.lane()));
      EXPECT_LE(own_top, kThreads == 1 ? 1U : square ? 3U : 2U);
      for (unsigned j = 0; j < kPerThread; ++j) {
        kept[group.lane() * kPerThread + j] = Radix::word(r, j);
      }
      if (group.lane() + 1 < kThreads) {
        above[(group.lane() + 1) * kPerThread] = own_top;
      } else {
        top = own_top;
      }
    });
    Words total = sum_of(kept, above);
    total[kWords] += top;
    return total;
  }

 private:
  static Words digits(const Words& a, unsigned lane) {
    const auto first = a.begin() + std::ptrdiff_t{lane} * kPerThread;
    const Words own(first, first + kPerThread);
    Words digits(kDigits);
    for (unsigned j = 0; j < kDigits; ++j) digits[j] = Radix::digit(own, j);
    return digits;
  }
};

/// Before the final subtraction, products and squares of any numbers below R are below a + n.
template <unsigned kBits, unsigned kThreads, unsigned kPerThread>
void expect_products_within_bounds() {
  using Rows = LaneRows<kBits, kThreads, kPerThread>;
  naive::Generator generate(7);
  for (const Words& n : edge_moduli(generate, Rows::kWords, 10)) {
    const MontgomeryOracle oracle(n, 32 * Rows::kWords);
    const std::vector<Words> operands = edge_operands(generate, n, 4);
    for (const Words& a : operands) {
      const Words square = Rows::sum(a, a, n, true);
      ASSERT_EQ(oracle.reduce(square), oracle.montgomery(a, a));
      ASSERT_FALSE(naive::at_least(square, sum_of(a, n)));
      for (const Words& b : operands) {
        const Words product = Rows::sum(a, b, n, false);
        ASSERT_EQ(oracle.reduce(product), oracle.montgomery(a, b));
        ASSERT_FALSE(naive::at_least(product, sum_of(a, n)));
      }
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(FiosRows, ProductsWithinBounds) {
  expect_products_within_bounds<16, 1, 1>();
  expect_products_within_bounds<16, 1, 5>();
  expect_products_within_bounds<16, 1, 12>();
  expect_products_within_bounds<32, 1, 2>();
  expect_products_within_bounds<32, 1, 7>();
  expect_products_within_bounds<32, 1, 12>();
}

TEST(FiosRows, ProductsOfGroupsWithinBounds) {
  expect_products_within_bounds<16, 2, 1>();
  expect_products_within_bounds<16, 4, 2>();
  expect_products_within_bounds<32, 2, 2>();
  expect_products_within_bounds<32, 8, 3>();
}

}  // namespace
}  // namespace manymod::test
