// SPDX-License-Identifier: Apache-2.0
// What plans on OpenCL devices leave to the processor, with all threads of the call. No kernel is launched.
#include "ecc/engine_choice.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ecc/opencl/fixture.hpp"
#include "ecc/plan.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;
using ecc::PointOperation;

class OpenclEngineChoice : public manymod::testing::OpenclCurves {
 protected:
  static constexpr std::size_t kCount = 2;
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(200);

  static ecc::CurveEngines engines_of(CurveId id) {
    const std::shared_ptr<const ecc::Curve> curve(&ecc::named_curve(id), [](const auto*) {});
    return {curve, "opencl", nullptr};
  }
  /// Points of `size` bytes; 0: each has a size of its own.
  [[nodiscard]] ecc::Inputs points_of(std::size_t size) const {
    mm_bytes_view view{};
    view.count = kCount;
    view.size = size;
    view.data = bytes_.data();
    const mm_bytes places[kCount] = {{bytes_.data(), 33}, {bytes_.data(), 65}};
    if (size == 0) view = {kCount, nullptr, 0, 0, nullptr, places};
    ecc::Inputs inputs;
    inputs.point.emplace(view, kCount, "points");
    return inputs;
  }
  static bool is_on_gpu(const ecc::CurveEngines& engines, mm_ecc_op op, const ecc::Inputs& inputs = {}) {
    const ecc::UsableEngines usable =
        usable_engines(engines, on_curve({op, MM_ECC_DEFAULT}, engines.curve()), inputs);
    EXPECT_EQ(usable.gpu, usable.gpu == nullptr ? nullptr : engines.on_gpu());
    EXPECT_EQ(usable.cpu, usable.gpu == nullptr ? engines.on_gpu()->host() : nullptr);
    return usable.gpu != nullptr;
  }
  static void fails(const char* kernels) { opencl::disqualify(0, kernels, "a test says so"); }
};

/// Kernels check points, and find no coordinate.
TEST_F(OpenclEngineChoice, PointsThatNoKernelDecodes) {
  const ecc::CurveEngines edwards = engines_of(CurveId::ed25519), short_form = engines_of(CurveId::p256);
  EXPECT_FALSE(is_on_gpu(edwards, MM_ECC_POINT, points_of(32)));
  EXPECT_TRUE(is_on_gpu(edwards, MM_ECC_MULTIPLY, points_of(32)));
  EXPECT_FALSE(is_on_gpu(short_form, MM_ECC_POINT, points_of(33)));
  EXPECT_TRUE(is_on_gpu(short_form, MM_ECC_POINT, points_of(65)));
  EXPECT_TRUE(is_on_gpu(short_form, MM_ECC_POINT, points_of(0)));
}

TEST_F(OpenclEngineChoice, SumsWhoseKernelsFailed) {
  const ecc::CurveEngines edwards = engines_of(CurveId::ed25519), short_form = engines_of(CurveId::p256);
  for (const mm_ecc_op op : {MM_ECC_SUM, MM_ECC_VERIFY_ALL}) EXPECT_TRUE(is_on_gpu(edwards, op));
  for (const mm_ecc_op op : {MM_ECC_SUM, MM_ECC_ADD}) EXPECT_TRUE(is_on_gpu(short_form, op));
  fails("ecc_minus255_sums");
  fails("ecc_three256_sums");
  for (const mm_ecc_op op : {MM_ECC_SUM, MM_ECC_VERIFY_ALL}) EXPECT_FALSE(is_on_gpu(edwards, op));
  for (const mm_ecc_op op : {MM_ECC_SUM, MM_ECC_ADD}) EXPECT_FALSE(is_on_gpu(short_form, op));
  for (const ecc::CurveEngines* const engines : {&edwards, &short_form}) {
    for (const mm_ecc_op op : {MM_ECC_VERIFY, MM_ECC_SIGN, MM_ECC_MULTIPLY, MM_ECC_PUBLIC_KEY}) {
      EXPECT_TRUE(is_on_gpu(*engines, op)) << op;
    }
  }
}

TEST_F(OpenclEngineChoice, CurvesWhoseKernelsFailed) {
  const ecc::CurveEngines short_form = engines_of(CurveId::p256), wide = engines_of(CurveId::p384);
  fails("ecc_three256");
  for (const mm_ecc_op op : {MM_ECC_VERIFY, MM_ECC_SIGN, MM_ECC_ADD, MM_ECC_SUM}) {
    EXPECT_FALSE(is_on_gpu(short_form, op)) << op;
    EXPECT_TRUE(is_on_gpu(wide, op)) << op;
  }
}

/// Estimates of time are the processor's where it computes.
TEST_F(OpenclEngineChoice, EstimatesFollow) {
  const ecc::CurveEngines engines = engines_of(CurveId::p256);
  const ecc::PointEngine& gpu = *engines.on_gpu();
  const auto same = [&](PointOperation operation) {
    return gpu.item_ns(operation) == gpu.host()->item_ns(operation);
  };
  EXPECT_TRUE(same(PointOperation::lift));
  EXPECT_FALSE(same(PointOperation::sum));
  fails("ecc_three256_sums");
  EXPECT_TRUE(same(PointOperation::sum));
  EXPECT_FALSE(same(PointOperation::multiply));
}

TEST_F(OpenclEngineChoice, SecretsWithoutATrustedDriver) {
  unsetenv("MANYMOD_OPENCL_SECRET");
  const ecc::CurveEngines engines = engines_of(CurveId::p256);
  for (const mm_ecc_op op : {MM_ECC_SIGN, MM_ECC_EXCHANGE, MM_ECC_MULTIPLY}) {
    EXPECT_FALSE(is_on_gpu(engines, op)) << op;
  }
  EXPECT_TRUE(is_on_gpu(engines, MM_ECC_RECOVER));
}

}  // namespace
}  // namespace manymod::test
