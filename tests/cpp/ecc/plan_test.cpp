// SPDX-License-Identifier: Apache-2.0
// The estimates by which calls choose a device.
#include "ecc/plan.hpp"

#include <gtest/gtest.h>

#include "ecc/forwarding_engine.hpp"
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

/// An engine of one GPU that takes eighty items at a time, or ten.
class GranularEngine final : public test::ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  [[nodiscard]] std::size_t granularity() const override { return 80; }
  [[nodiscard]] std::size_t least_chunk() const override { return 10; }
  [[nodiscard]] unsigned gpus() const override { return 1; }
};

TEST(GpuGranule, GivesEachThreadAShareOfLongWork) {
  const auto exact = scalar64::variant().make(named_curve(CurveId::p256), {});
  const GranularEngine engine(*exact);
  constexpr PointOperation operation = PointOperation::multiply;
  const double of_gpu = engine.item_ns(operation);
  const auto granule = [&](double threads_part, std::size_t items) {
    return gpu_granule(engine, operation, of_gpu * (1 + threads_part), items, 4);
  };
  // A thread's part of 80 items takes no longer than the GPU for all 160.
  EXPECT_EQ(granule(2, 160), 80u);
  // It does: each thread has a share, which is not too short and never longer.
  EXPECT_EQ(granule(2.1, 160), 40u);
  EXPECT_EQ(granule(5, 9), 10u);
  EXPECT_EQ(granule(50, 1000), 80u);
  // Sums of more terms take fewer additions.
  const double of_sum = engine.item_ns(PointOperation::sum);
  EXPECT_EQ(gpu_granule(engine, PointOperation::sum, of_sum, 1000, 4), 320u);
  EXPECT_EQ(gpu_granule(engine, PointOperation::sum, 10 * of_sum, 100, 4), 40u);
  // Two threads with a granule each would take 80 * 5.
  EXPECT_DOUBLE_EQ(expected_gpu_ns(engine, operation, of_gpu * 6, 160, 4), of_gpu * (160 + 40 * 5));
}

}  // namespace
}  // namespace manymod::ecc
