// SPDX-License-Identifier: Apache-2.0
// A cached modulus is classified as the copy that is computed with.
#include "api/modulus_cache.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "exec/recording_engine.hpp"

namespace manymod::testing {
namespace {

class CachedModuli : public ::testing::Test {
 protected:
  const EngineSet engines_ = only(std::make_unique<RecordingEngine>());

  [[nodiscard]] CachedModulus cached(const std::vector<Limb>& modulus) const {
    return {engines_, modulus, 128, Operation::powmod, TimingClass::secret};
  }
};

/// The size that a caller's memory had before may leave leading zero limbs in the copy.
TEST_F(CachedModuli, LeadingZeroLimbsOfTheCopyAreDropped) {
  for (const std::vector<Limb>& modulus : {std::vector<Limb>{7}, {7, 0}, {7, 0, 0, 0}}) {
    const CachedModulus one = cached(modulus);
    EXPECT_EQ(one.limbs(), 1u);
    EXPECT_EQ(one.modulus_class(), ModulusClass::compute);
    EXPECT_TRUE(one.is(std::vector<Limb>{7}));
  }
  EXPECT_EQ(cached({1, 0}).modulus_class(), ModulusClass::unit);
  EXPECT_EQ(cached({0, 0}).modulus_class(), ModulusClass::zero);
  EXPECT_EQ(cached({0, 0}).limbs(), 0u);
  EXPECT_EQ(cached({4, 0, 0}).modulus_class(), ModulusClass::even);
  EXPECT_EQ(cached({7, 0, 1}).modulus_class(), ModulusClass::too_wide);
}

}  // namespace
}  // namespace manymod::testing
