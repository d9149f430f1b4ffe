// SPDX-License-Identifier: Apache-2.0
#include "modexp/multi.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/small_field.hpp"

namespace manymod {
namespace {

using test::SmallField;
using Limbs = std::vector<Limb>;

constexpr Limb kPrime = 251;

void check(const Limbs& bases, const Limbs& exponents, const MultiPlan& plan, std::size_t bits) {
  const SmallField field(kPrime);
  std::vector<std::span<const Limb>> views;
  Limb expected = 1;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    views.emplace_back(&exponents[i], 1);
    expected = expected * field.power(bases[i], exponents[i]) % kPrime;
  }
  Limbs workspace(multi_workspace(field, plan, bases.size()));
  Limb r = 0;
  ASSERT_TRUE(multi_power(field, plan, &r, bases.data(), views, bits, workspace.data(), {}));
  ASSERT_EQ(r, expected) << (plan.buckets ? "buckets " : "windows ") << plan.width;
}

TEST(MultiPower, AllPairsOfSmallExponentsWithEveryPlan) {
  for (const bool buckets : {false, true}) {
    for (std::size_t width = 1; width <= 5; ++width) {
      for (Limb a = 0; a < 40; ++a) {
        for (Limb b = 0; b < 40; ++b) check({6, 11}, {a, b}, {buckets, width}, 6);
      }
    }
  }
}

TEST(MultiPower, ManyTerms) {
  std::mt19937_64 random(51);
  for (const std::size_t terms : {0U, 1U, 3U, 17U, 200U}) {
    Limbs bases(terms);
    Limbs exponents(terms);
    for (Limb& base : bases) base = random() % kPrime;
    for (Limb& exponent : exponents) exponent = random() % 4096;
    for (const bool buckets : {false, true}) check(bases, exponents, {buckets, 4}, 12);
    check(bases, exponents, plan_multi(terms, 12, 1 << 10), 12);
  }
}

TEST(MultiPower, ZeroTermsOrZeroExponentsGiveOne) {
  check({}, {}, plan_multi(0, 0, 16), 0);
  check({5, 7}, {0, 0}, plan_multi(2, 0, 16), 0);
}

TEST(MultiPower, PlanMovesFromWindowsToBuckets) {
  EXPECT_FALSE(plan_multi(2, 256, 1 << 15).buckets);
  EXPECT_TRUE(plan_multi(100000, 256, 1 << 15).buckets);
  EXPECT_GT(plan_multi(1000000, 256, 1 << 15).width, plan_multi(1000, 256, 1 << 15).width);
}

}  // namespace
}  // namespace manymod
