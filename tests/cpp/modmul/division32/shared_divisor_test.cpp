// SPDX-License-Identifier: Apache-2.0
// Divisors computed on the host.
#include "modmul/division32/shared_divisor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "modmul/division32/division.cuda.hpp"
#include "support/naive.hpp"

namespace manymod::division32 {
namespace {

TEST(SharedDivisor, IsTheComplementOfTheNormalisedModulus) {
  naive::Generator generate(3);
  for (const unsigned words : {4u, 8u, 24u, 128u}) {
    for (unsigned round = 0; round < 40; ++round) {
      naive::Limbs n = generate.number(1 + generate.below(words / 2));
      if (round == 0) n.assign(1, 1);
      n.back() |= static_cast<std::uint64_t>(n.back() == 0);
      const SharedDivisor d = shared_divisor(n, words);
      // minus + n 2^shift = 2^(32 words)
      naive::Digits power(d.shift / 32 + 1, 0);
      power.back() = std::uint32_t{1} << d.shift % 32;
      naive::Digits normal = naive::multiply(naive::digits(n), power);
      normal.resize(words);
      EXPECT_EQ(normal.back() >> 31, 1u);
      std::uint64_t carry = 0;
      for (unsigned j = 0; j < words; ++j) {
        carry += std::uint64_t{normal[j]} + d.minus[j];
        EXPECT_EQ(static_cast<std::uint32_t>(carry), 0u);
        carry >>= 32;
      }
      EXPECT_EQ(carry, 1u);
      EXPECT_EQ(d.reciprocal, reciprocal_of(normal[words - 1], normal[words - 2]));
    }
  }
}

TEST(SharedDivisor, ReciprocalsAtTheEnds) {
  EXPECT_EQ(reciprocal_of(0x80000000u, 0), 0xffffffffu);
  EXPECT_EQ(reciprocal_of(0xffffffffu, 0xffffffffu), 0x7fffffffu);
}

}  // namespace
}  // namespace manymod::division32
