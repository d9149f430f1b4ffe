// SPDX-License-Identifier: Apache-2.0
// fios' device multipliers on the host, for each radix and place: the tests of all device multipliers, and
// what is their own: canonical results, sums, differences, operations in place.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "modmul/fios/arithmetic.cuda.hpp"
#include "modmul/fios/digits.cuda.hpp"
#include "modmul/fios/multiplier.cuda.hpp"
#include "support/device_multiplier_tests.hpp"
#include "support/device_program_tests.hpp"
#include "support/device_values.hpp"
#include "support/naive.hpp"

namespace manymod::test {
namespace {

// On the host operands in local memory are as those in registers.
template <template <class, unsigned> class Technique>
using Shapes =
    testing::Types<DeviceShape<Technique, 1, 5>, DeviceShape<Technique, 1, 8>, DeviceShape<Technique, 1, 12>>;
template <template <class, unsigned> class Technique>
using LocalShapes = testing::Types<DeviceShape<Technique, 1, 7>, DeviceShape<Technique, 1, 16>>;
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

using SmallShapes = testing::Types<DeviceShape<fios::radix16_registers::Multiplier, 1, 1>,
                                   DeviceShape<fios::radix16_registers::Multiplier, 1, 2>,
                                   DeviceShape<fios::radix16_shared::Multiplier, 1, 2>,
                                   DeviceShape<fios::radix32_registers::Multiplier, 1, 2>,
                                   DeviceShape<fios::radix32_shared::Multiplier, 1, 3>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Fios, DeviceMultiplierExhaustive, SmallShapes);

using ProgramShapes = testing::Types<DeviceShape<fios::radix16_registers::Multiplier, 1, 6>,
                                     DeviceShape<fios::radix16_shared::Multiplier, 1, 5>,
                                     DeviceShape<fios::radix32_shared::Multiplier, 1, 7>,
                                     DeviceShape<fios::radix32_local::Multiplier, 1, 12>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Fios, DeviceProgram, ProgramShapes);

template <class Shape>
class Fios : public testing::Test {};
using ArithmeticShapes = testing::Types<
    DeviceShape<fios::radix16_registers::Multiplier, 1, 5>,
    DeviceShape<fios::radix16_shared::Multiplier, 1, 7>, DeviceShape<fios::radix16_local::Multiplier, 1, 8>,
    DeviceShape<fios::radix32_registers::Multiplier, 1, 5>,
    DeviceShape<fios::radix32_shared::Multiplier, 1, 12>, DeviceShape<fios::radix32_local::Multiplier, 1, 7>>;
TYPED_TEST_SUITE(Fios, ArithmeticShapes);

/// a + b mod n, or a - b mod n for `sign` -1, for a, b < n.
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
    for (const Words& any : operands) {
      for (const Words& other : operands) {
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
          // Below n where one of the factors is: x or the other way round.
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

/// Sums and differences may go where an operand is.
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

/// Digits of a number of 32-bit words, and the words of a number of digits with a top digit.
template <class Radix>
Words digits_of(const Words& a) {
  Words digits(a.size() * 32 / Radix::kBits);
  for (unsigned j = 0; j < digits.size(); ++j) digits[j] = Radix::digit(a, j);
  return digits;
}
template <class Radix>
Words words_of(const Words& digits, std::uint32_t top) {
  Words words(digits.size() * Radix::kBits / 32);
  for (unsigned j = 0; j < words.size(); ++j) words[j] = Radix::word(digits, j);
  words.push_back(top);
  return words;
}

/// Products before the subtraction, of any numbers below R: below a + n, as claimed.
template <unsigned kBits, unsigned kWords>
void expect_products_within_bounds() {
  using Radix = fios::Radix<kBits>;
  using Arithmetic = fios::Arithmetic<Radix, fios::InRegisters, kWords * 32 / kBits>;
  naive::Generator generate(7);
  for (const Words& n : edge_moduli(generate, kWords, 10)) {
    const MontgomeryOracle oracle(n, 32 * kWords);
    const Words n_digits = digits_of<Radix>(n);
    const std::uint32_t n0 = cuda::negative_inverse(n[0]) & Radix::kMask;
    const std::vector<Words> operands = edge_operands(generate, n, 4);
    for (const Words& a : operands) {
      for (const Words& b : operands) {
        Words r(n_digits.size(), kGuardWord);
        const std::uint32_t top =
            Arithmetic::product(r, digits_of<Radix>(a), digits_of<Radix>(b), n_digits, n0);
        const Words total = words_of<Radix>(r, top);
        ASSERT_EQ(oracle.reduce(total), oracle.montgomery(a, b));
        Words bound(kWords + 1);
        std::uint64_t carry = 0;
        for (unsigned j = 0; j < kWords; ++j) {
          carry += std::uint64_t{a[j]} + n[j];
          bound[j] = static_cast<std::uint32_t>(carry);
          carry >>= 32;
        }
        bound[kWords] = static_cast<std::uint32_t>(carry);
        ASSERT_FALSE(naive::at_least(total, bound));
      }
    }
  }
}

TEST(FiosArithmetic, ProductsWithinBounds) {
  expect_products_within_bounds<16, 1>();
  expect_products_within_bounds<16, 5>();
  expect_products_within_bounds<16, 12>();
  expect_products_within_bounds<32, 2>();
  expect_products_within_bounds<32, 7>();
  expect_products_within_bounds<32, 12>();
}

}  // namespace
}  // namespace manymod::test
