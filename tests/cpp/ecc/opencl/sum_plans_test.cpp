// SPDX-License-Identifier: Apache-2.0
// Sums of points through plans on OpenCL devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "ecc/opencl/fixture.hpp"
#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

/// Sums through the C ABI, on P-256.
class OpenclSumPlans : public OpenclCurves {
 protected:
  static constexpr std::size_t kItems = 400;
  const EccCurve curve_{"P-256"};
  std::vector<Bytes> scalars_, points_, seconds_;
  std::vector<mm_status> statuses_;

  void SetUp() override {
    OpenclCurves::SetUp();
    for (std::size_t i = 0; i < kItems; ++i) scalars_.push_back(noise(32, i));
    EccPlan cpu = cpu_plan(curve_);
    EccOperands operands;
    operands.secrets = scalars_;
    points_ = cpu.run(MM_ECC_MULTIPLY, kItems, operands);
    seconds_ = points_;
    std::ranges::rotate(seconds_, seconds_.begin() + 1);
    points_[3] = seconds_[3];                                 // P + P
    points_[4] = Bytes(1);                                    // infinity
    for (Bytes* const point : {&points_[5], &seconds_[6]}) {  // no points
      point->back() = static_cast<std::uint8_t>(point->back() ^ 1);
    }
    seconds_[7].pop_back();
  }
  std::vector<Bytes> run(EccPlan& plan, mm_ecc_op op) {
    EccOperands operands;
    operands.points = points_;
    if (op == MM_ECC_ADD) operands.seconds = seconds_;
    if (op == MM_ECC_SUM) operands.secrets = scalars_;
    return plan.run(op, kItems, operands, {}, &statuses_);
  }
  void agree(mm_ecc_op op) {
    EccPlan gpu(curve_, {"opencl", "", 1}), cpu = cpu_plan(curve_);
    const std::vector<Bytes> expected = run(cpu, op);
    const std::vector<mm_status> statuses = statuses_;
    // Kernels that were found to be wrong at first would not be launched again.
    for (int round = 0; round < 2; ++round) {
      opencl_launches = 0;
      EXPECT_EQ(run(gpu, op), expected);
      EXPECT_EQ(statuses_, statuses);
      EXPECT_GT(opencl_launches, 0U);
    }
  }
};

TEST_F(OpenclSumPlans, BadItemsHarmOnlyThemselves) {
  agree(MM_ECC_ADD);
  for (const std::size_t bad : {5U, 6U, 7U}) EXPECT_EQ(statuses_[bad], MM_ITEM_ECC_POINT) << bad;
  EXPECT_EQ(std::ranges::count(statuses_, MM_OK), std::ptrdiff_t{kItems - 3});
}

TEST_F(OpenclSumPlans, MultiplesOfMany) {
  points_[5] = points_[8];
  agree(MM_ECC_SUM);
  EXPECT_EQ(std::ranges::count(statuses_, MM_OK), std::ptrdiff_t{kItems});
}

/// Public sums do not need a driver that is trusted with secrets.
TEST_F(OpenclSumPlans, ArePublic) {
  unsetenv("MANYMOD_OPENCL_SECRET");
  points_[5] = points_[8];
  agree(MM_ECC_SUM);
}

}  // namespace
}  // namespace manymod::testing
