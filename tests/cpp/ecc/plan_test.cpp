// SPDX-License-Identifier: Apache-2.0
// The estimates by which calls choose a device.
#include "ecc/plan.hpp"

#include <gtest/gtest.h>

#include "ecc/scalar64/engine.hpp"

namespace manymod::ecc {
namespace {

TEST(ExpectedTime, CountsWhatThreadsShare) {
  const Curve& curve = named_curve(CurveId::p256);
  const auto engine = scalar64::variant().make(curve, {});
  ASSERT_EQ(engine->granularity(), 1u);
  // Ten items on four threads: three, one after the other.
  EXPECT_DOUBLE_EQ(expected_cpu_ns(*engine, 100, 10, 4), 300);
  // On a GPU all ten follow each other there, and only the rest is shared among threads.
  const double of_gpu = engine->item_ns(PointOperation::multiply);
  EXPECT_DOUBLE_EQ(expected_gpu_ns(*engine, PointOperation::multiply, of_gpu + 100, 10, 4),
                   10 * of_gpu + 300);
  EXPECT_DOUBLE_EQ(expected_gpu_ns(*engine, PointOperation::multiply, of_gpu / 2, 10, 4), 10 * of_gpu);
}

}  // namespace
}  // namespace manymod::ecc
