// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "core/cpu_features.hpp"
#include "modmul/scalar64/kernels.hpp"
#include "modmul/scalar64/montgomery.hpp"
#include "support/kernel_sets.hpp"
#include "support/naive.hpp"

namespace manymod::scalar64 {
namespace {

using naive::Generator;
using naive::Limbs;

class Scalar64Kernels : public testing::TestWithParam<test::KernelSet> {
 protected:
  [[nodiscard]] const Kernels& kernels() const { return *GetParam().kernels; }
};

TEST_P(Scalar64Kernels, ProductOfAllSizesUpToFiveTiles) {
  Generator generate(1);
  for (std::size_t a_size = 1; a_size <= 40; ++a_size) {
    for (const std::size_t b_size : {std::size_t{1}, a_size, a_size + 3}) {
      const Limbs a = generate.number(a_size);
      const Limbs b = generate.number(b_size);
      Limbs t(a_size + b_size, 0xAAAA);
      kernels().product(t.data(), a.data(), a_size, b.data(), b_size);
      ASSERT_EQ(t, naive::limbs(naive::multiply(naive::digits(a), naive::digits(b)), t.size()))
          << a_size << " " << b_size;
    }
  }
}

TEST_P(Scalar64Kernels, SquareIsTheProductWithItself) {
  Generator generate(2);
  for (std::size_t size = 1; size <= 70; ++size) {
    for (int round = 0; round < 8; ++round) {
      const Limbs a = round == 0 ? Limbs(size, ~Limb{0}) : generate.number(size);
      Limbs square(2 * size, 0xAAAA);
      Limbs product(2 * size);
      kernels().square(square.data(), a.data(), size);
      kernels().product(product.data(), a.data(), size, a.data(), size);
      ASSERT_EQ(square, product) << size;
    }
  }
}

/// r R = a b mod n, r < n, for a <= n and b < R.
TEST_P(Scalar64Kernels, UnrolledMultiplicationIsFullyReduced) {
  Generator generate(3);
  for (std::size_t size = 1; size <= kUnrolledLimbs; ++size) {
    for (int round = 0; round < 200; ++round) {
      const Limbs n = round == 0 ? Limbs(size, ~Limb{0}) : generate.odd_modulus(size);
      const Limbs a = round % 10 == 0 ? n : generate.residue(n);
      const Limbs b = round % 3 == 0 ? Limbs(size, ~Limb{0}) : generate.number(size);
      const Limb n0 = word::negated_inverse(n[0]);
      Limbs r(size);
      kernels().unrolled_mul[size](r.data(), a.data(), b.data(), n.data(), n0);
      ASSERT_EQ(limbs::less(r, n), 1U);
      Limbs shifted(2 * size, 0);
      std::copy(r.begin(), r.end(), shifted.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_EQ(naive::reduce(shifted, n), naive::multiply_mod(a, b, n)) << size << " round " << round;

      kernels().unrolled_sqr[size](r.data(), a.data(), n.data(), n0);
      ASSERT_EQ(limbs::less(r, n), 1U);
      std::copy(r.begin(), r.end(), shifted.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_EQ(naive::reduce(shifted, n), naive::multiply_mod(a, a, n)) << size << " round " << round;
    }
  }
}

TEST_P(Scalar64Kernels, UnrolledMultiplicationMayWriteOverItsOperands) {
  Generator generate(4);
  for (std::size_t size = 1; size <= kUnrolledLimbs; ++size) {
    const Limbs n = generate.odd_modulus(size);
    const Limbs a = generate.residue(n);
    const Limbs b = generate.residue(n);
    const Limb n0 = word::negated_inverse(n[0]);
    Limbs expected(size);
    kernels().unrolled_mul[size](expected.data(), a.data(), b.data(), n.data(), n0);
    Limbs over_a = a;
    kernels().unrolled_mul[size](over_a.data(), over_a.data(), b.data(), n.data(), n0);
    Limbs over_b = b;
    kernels().unrolled_mul[size](over_b.data(), a.data(), over_b.data(), n.data(), n0);
    EXPECT_EQ(over_a, expected);
    EXPECT_EQ(over_b, expected);
    kernels().unrolled_sqr[size](expected.data(), a.data(), n.data(), n0);
    over_a = a;
    kernels().unrolled_sqr[size](over_a.data(), over_a.data(), n.data(), n0);
    EXPECT_EQ(over_a, expected);
  }
}

/// Every t < R^2 is allowed, so the sum may have a carry out of limb 2 L - 1.
TEST_P(Scalar64Kernels, ReduceKeepsTheResidueAndItsRange) {
  Generator generate(5);
  for (std::size_t size = 1; size <= 40; ++size) {
    for (int round = 0; round < 12; ++round) {
      const Limbs n = round == 0 ? Limbs(size, ~Limb{0}) : generate.odd_modulus(size);
      const Limbs t = round < 2 ? Limbs(2 * size, ~Limb{0}) : generate.number(2 * size);
      Limbs work = t;
      Limbs r(size);
      kernels().reduce(r.data(), work.data(), n.data(), word::negated_inverse(n[0]), size);
      Limbs shifted(2 * size, 0);
      std::copy(r.begin(), r.end(), shifted.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_EQ(naive::reduce(shifted, n), naive::reduce(t, n)) << size << " round " << round;
    }
  }
}

TEST_P(Scalar64Kernels, SelectReadsTheEntryAtAnyStride) {
  Generator generate(6);
  for (const std::size_t words : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 15U, 16U, 17U, 33U}) {
    for (const std::size_t entries : {1U, 2U, 16U, 31U}) {
      const std::size_t stride = 2 * words + 1;
      const Limbs table = generate.number(entries * stride);
      for (std::size_t index = 0; index < entries; ++index) {
        Limbs r(words + 1, 77);
        kernels().select(r.data(), table.data(), entries, stride, words, index);
        const auto entry = table.begin() + static_cast<std::ptrdiff_t>(index * stride);
        Limbs expected(entry, entry + static_cast<std::ptrdiff_t>(words));
        expected.push_back(77);
        ASSERT_EQ(r, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Scalar64Kernels, testing::ValuesIn(test::usable_kernel_sets()),
                         test::kernel_set_name);

}  // namespace
}  // namespace manymod::scalar64
