// SPDX-License-Identifier: Apache-2.0
// Storing results: signs, zero extension, results in place of operands.
#include "engine/store.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace manymod::testing {
namespace {

constexpr Limb kOnes = ~Limb{0};

struct Stored {
  std::vector<Limb> limbs;
  std::uint8_t negative;
  friend bool operator==(const Stored&, const Stored&) = default;
};

Stored stored(const std::vector<Limb>& residue, const std::vector<Limb>& modulus, bool negative_modulus,
              std::size_t width) {
  const std::uint8_t sign = negative_modulus ? 1 : 0;
  Stored out{std::vector<Limb>(width, 0xabcd), 7};
  Job job;
  job.modulus = {modulus.data(), 1, modulus.size(), modulus.size(), &sign};
  job.result = {out.limbs.data(), 1, width, width, &out.negative};
  store_result(job, 0, residue, modulus);
  return out;
}

TEST(Store, PositiveModulus) {
  EXPECT_EQ(stored({3, 4}, {5, 6}, false, 3), (Stored{{3, 4, 0}, 0}));
  EXPECT_EQ(stored({0, 0}, {5, 6}, false, 2), (Stored{{0, 0}, 0}));
}

TEST(Store, NegativeModulus) {
  EXPECT_EQ(stored({3}, {10}, true, 2), (Stored{{7, 0}, 1}));
  EXPECT_EQ(stored({0, 0, 0}, {10, 0, 5}, true, 4), (Stored{{0, 0, 0, 0}, 0}));
}

TEST(Store, BorrowsRunThroughAllLimbs) {
  EXPECT_EQ(stored({1, 0, 0}, {0, 0, 1}, true, 3), (Stored{{kOnes, kOnes, 0}, 1}));
  EXPECT_EQ(stored({kOnes, kOnes, 0}, {0, 0, 1}, true, 3), (Stored{{1, 0, 0}, 1}));
  EXPECT_EQ(stored({5, kOnes, 3}, {5, kOnes, 4}, true, 3), (Stored{{0, 0, 1}, 1}));
  EXPECT_EQ(stored({6, kOnes, 3}, {5, kOnes, 4}, true, 3), (Stored{{kOnes, kOnes, 0}, 1}));
  EXPECT_EQ(stored({0, kOnes, 0}, {kOnes, kOnes, 1}, true, 3), (Stored{{kOnes, 0, 1}, 1}));
}

TEST(Store, OverItsOwnOperands) {
  std::vector<Limb> modulus{9, 1};
  std::vector<Limb> residue{10, 0};
  const std::uint8_t sign = 1;
  std::uint8_t negative = 0;
  Job job;
  job.modulus = {modulus.data(), 1, 2, 2, &sign};
  job.result = {modulus.data(), 1, 2, 2, &negative};
  store_result(job, 0, residue, modulus);
  EXPECT_EQ(modulus, (std::vector<Limb>{kOnes, 0}));
  job.modulus = {residue.data(), 1, 2, 2, nullptr};
  job.result = {residue.data(), 1, 2, 2, nullptr};
  store_result(job, 0, residue, modulus);
  EXPECT_EQ(residue, (std::vector<Limb>{10, 0}));
  store_zero(job.result, 0);
  EXPECT_EQ(residue, (std::vector<Limb>{0, 0}));
}

}  // namespace
}  // namespace manymod::testing
