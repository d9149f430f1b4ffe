// SPDX-License-Identifier: Apache-2.0
// Sums on Ed25519 through plans on OpenCL devices, with components of order 8 and scalars of n and more; and
// verdicts on many signatures at once, which are such sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ecc/opencl/fixture.hpp"
#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

/// Points of order 8, 4 and 2.
const std::vector<Bytes>& small_points() {
  static const std::vector<Bytes> all{
      from_hex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
      from_hex("0000000000000000000000000000000000000000000000000000000000000000"),
      from_hex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")};
  return all;
}

class OpenclEdwardsSums : public OpenclCurves {
 protected:
  const EccCurve curve_{"Ed25519"};
  EccOperands operands_;
  EccOptions options_;

  static std::vector<Bytes> noises(std::size_t count) {
    std::vector<Bytes> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(noise(32, i));
    return all;
  }
  [[nodiscard]] EccPlan on_device() const { return EccPlan(curve_, {"opencl", "", 1}); }
};

TEST_F(OpenclEdwardsSums, OfPointsOfAnyOrder) {
  constexpr std::size_t kTerms = 300;
  // Most are above n; some are 2^256 - 1 or 0.
  std::vector<Bytes> scalars = noises(kTerms);
  std::ranges::fill(scalars[7], std::uint8_t{0xFF});
  std::ranges::fill(scalars[8], std::uint8_t{0});
  operands_.secrets = scalars;
  EccPlan cpu = cpu_plan(curve_), gpu = on_device();
  std::vector<Bytes> points = cpu.run(MM_ECC_MULTIPLY, kTerms, operands_), small;
  for (std::size_t i = 0; i < kTerms; ++i) small.push_back(small_points()[i % small_points().size()]);
  EccOperands pairs;
  pairs.points = points;
  pairs.seconds = small;
  points = cpu.run(MM_ECC_ADD, kTerms, pairs);
  points[9] = small_points()[0];
  operands_.points = points;
  const std::vector<Bytes> expected = cpu.run(MM_ECC_SUM, kTerms, operands_);
  for (int round = 0; round < 2; ++round) {
    opencl_launches = 0;
    EXPECT_EQ(gpu.run(MM_ECC_SUM, kTerms, operands_), expected);
    EXPECT_GT(opencl_launches, 0U);
  }
}

/// Two terms for each signature and one for all.
TEST_F(OpenclEdwardsSums, OneVerdictOnSignatures) {
  constexpr std::size_t kSignatures = 150;
  const std::vector<Bytes> secrets = noises(kSignatures);
  std::vector<Bytes> messages = secrets;
  EccPlan cpu = cpu_plan(curve_), gpu = on_device();
  std::vector<Bytes> keys = cpu.public_keys(secrets), signatures = cpu.sign(secrets, messages);
  // With a key and R of small order, S = 0 is valid by the cofactored equation.
  for (std::size_t i = 0; i < small_points().size(); ++i) {
    keys[i] = small_points()[i];
    signatures[i] = Bytes(64);
    std::ranges::copy(small_points()[0], signatures[i].begin());
  }
  operands_.points = keys;
  operands_.messages = messages;
  operands_.signatures = signatures;
  options_.policy = MM_ECC_ZIP215;
  const auto is_valid = [&](EccPlan& plan) -> bool {
    return plan.run_verification(MM_ECC_VERIFY_ALL, kSignatures, operands_, options_).at(0);
  };
  EXPECT_TRUE(is_valid(cpu));
  for (int round = 0; round < 2; ++round) {
    opencl_launches = 0;
    EXPECT_TRUE(is_valid(gpu));
    EXPECT_GT(opencl_launches, 0U);
  }
  messages[kSignatures - 1].push_back(1);
  opencl_launches = 0;
  EXPECT_FALSE(is_valid(gpu));
  EXPECT_GT(opencl_launches, 0U);
}

/// Encodings are read by the processor.
TEST_F(OpenclEdwardsSums, PointsAsTheyAre) {
  operands_.points = small_points();
  EccPlan gpu = on_device();
  EXPECT_EQ(gpu.run(MM_ECC_POINT, small_points().size(), operands_), small_points());
  EXPECT_EQ(opencl_launches, 0U);
}

}  // namespace
}  // namespace manymod::testing
