// SPDX-License-Identifier: Apache-2.0
// The device code of examples/device, on the host.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "../../../examples/device/miller_rabin.cuh"
#include "../../../examples/device/pminus1.cuh"
#include "support/device_api.hpp"

namespace manymod::test {
namespace {

template <class Shape>
class DeviceExamples : public testing::Test {
 protected:
  static constexpr unsigned kWords = Shape::Modulus::kWords;
};

using Shapes = testing::Types<ApiShape<64, 1, device::Row32>, ApiShape<96, 2, device::Row32>,
                              ApiShape<64, 1, device::Dpf52>>;
TYPED_TEST_SUITE(DeviceExamples, Shapes, ApiShapeNames);

bool is_prime(std::uint32_t n) {
  for (std::uint32_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return false;
  }
  return n > 1;
}

template <class Shape>
bool passes(std::uint64_t candidate, const std::vector<std::uint32_t>& bases, unsigned most_twos) {
  using Modulus = typename Shape::Modulus;
  const Words n = word_number(candidate, Modulus::kWords);
  std::vector<int> passed(Shape::kThreads);
  EXPECT_TRUE(with_modulus<Shape>(n, [&](const Modulus& m, unsigned lane) {
    passed[lane] = miller_rabin::is_probable_prime(m, api_words(n), bases.data(),
                                                   static_cast<unsigned>(bases.size()), most_twos);
  }));
  EXPECT_EQ(passed, std::vector<int>(Shape::kThreads, passed[0]));
  return passed[0] == 1;
}

TYPED_TEST(DeviceExamples, MillerRabinAgreesWithTrialDivision) {
  for (std::uint32_t n = 5; n < 700; n += 2) ASSERT_EQ(passes<TypeParam>(n, {2, 3}, 9), is_prime(n)) << n;
}

/// Strong pseudoprimes are told by the base that tells them, and by no other; primes with many twos below
/// them are.
TYPED_TEST(DeviceExamples, MillerRabinWithHardNumbers) {
  EXPECT_TRUE(passes<TypeParam>(2047, {2}, 1));
  EXPECT_FALSE(passes<TypeParam>(2047, {2, 3}, 1));
  EXPECT_TRUE(passes<TypeParam>(3215031751, {2, 3, 5, 7}, 20));
  EXPECT_FALSE(passes<TypeParam>(3215031751, {2, 3, 5, 7, 11}, 20));
  EXPECT_TRUE(passes<TypeParam>(0xffffffffffffffc5, {2, 3, 5}, 8));
  EXPECT_TRUE(passes<TypeParam>(0xffffffff00000001, {2, 7}, 32));
  EXPECT_TRUE(passes<TypeParam>(65537, {3, 5}, 40));
  EXPECT_FALSE(passes<TypeParam>(0xffffffffffffffff, {2}, 1));
}

/// lcm(1, .., 30) = 2329089562800: 2^31 - 2 divides 2 (2^30 - 1) and not it; 331 - 1, 2311 - 1 and 232792561
/// - 1 do.
TYPED_TEST(DeviceExamples, PollardFindsFactorsWithSmoothPredecessors) {
  using Modulus = typename TypeParam::Modulus;
  const Words exponent = word_number(2329089562800, 2);
  constexpr std::uint64_t kOther = 2147483647;
  struct Case {
    std::uint64_t n, factor;
  };
  const std::vector<Case> cases{{331 * kOther, 331},
                                {2311 * kOther, 2311},
                                {232792561 * kOther, 232792561},
                                {331 * 2311, 331 * 2311},  // both at once: nothing found
                                {kOther, 1}};
  for (const Case& one : cases) {
    const Words n = word_number(one.n, this->kWords);
    GuardedResult factor(this->kWords);
    GuardedColumns table(TypeParam::kThreads, Modulus::table_words(pminus1::kWindow - 1));
    ASSERT_TRUE(with_modulus<TypeParam>(n, [&](const Modulus& m, unsigned lane) {
      m.store(factor.data(), pminus1::stage1(m, api_words(exponent), {table.column(lane), table.stride()}));
    }));
    EXPECT_EQ(factor.words(), word_number(one.factor, this->kWords)) << one.n;
    EXPECT_TRUE(factor.guards_intact() && table.guards_intact());
  }
}

}  // namespace
}  // namespace manymod::test
