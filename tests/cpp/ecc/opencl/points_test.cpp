// SPDX-License-Identifier: Apache-2.0
// Curves on a real OpenCL driver, such as PoCL: skipped where there is none. Few curves, as drivers compile the
// kernels of each length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/status_error.hpp"
#include "dispatch/devices.hpp"
#include "ecc/engine_checks.hpp"
#include "ecc/opencl/recorded_formulas.hpp"
#include "ecc/opencl/variants.opencl.hpp"
#include "ecc/test_calls.hpp"
#include "gpu/opencl/driver.hpp"
#include "gpu/opencl/requirements.hpp"
#include "support/opencl_faults.hpp"
#include "support/opencl_fixture.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;
using manymod::testing::EccCurve;
using manymod::testing::EccOperands;
using manymod::testing::EccOptions;
using manymod::testing::EccPlan;
using manymod::testing::address;
using manymod::testing::own;

/// A failure shows what src/ecc/opencl/formulas.clh is to be.
TEST(OpenclFormulas, AreThoseOfTheTemplates) {
  const auto sources = opencl::kernel_sources();
  const auto kernels = std::ranges::find(sources, "ecc/opencl/kernels", &opencl::KernelSource::name);
  ASSERT_NE(kernels, sources.end());
  const std::string recorded = recorded_formulas();
  EXPECT_NE(kernels->text.find(recorded), std::string_view::npos) << recorded;
}

std::size_t launches = 0;

opencl::Status count_launches(opencl::QueueHandle queue, opencl::KernelHandle kernel, std::uint32_t dimensions,
                              const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                              std::uint32_t count, const opencl::EventHandle* events,
                              opencl::EventHandle* event) {
  ++launches;
  return own<decltype(&count_launches)>("clEnqueueNDRangeKernel")(
      queue, kernel, dimensions, offset, global, local, count, events, event);
}

class OpenclCurves : public manymod::testing::OpenclTest {
 protected:
  void SetUp() override {
    OpenclTest::SetUp();
    setenv("MANYMOD_OPENCL_SECRET", "1", 1);
    launches = 0;
    if (!IsSkipped()) replace("clEnqueueNDRangeKernel", address(count_launches));
  }
  void TearDown() override {
    unsetenv("MANYMOD_OPENCL_SECRET");
    opencl::forget_disqualified();
    OpenclTest::TearDown();
  }

  static void replace(const char* name, void* function) {
    opencl::DriverSources sources;
    sources.replaced_functions = {{name, function}};
    opencl::Driver::use(sources);
  }
  static std::unique_ptr<const ecc::PointEngine> engine_of(const ecc::Curve& curve) {
    constexpr unsigned kFirst = 0;
    return ecc::opencl::variant().make(curve, {&kFirst, 1});
  }
  static void check(const ecc::Curve& curve) {
    const auto engine = engine_of(curve);
    check_edges(*engine, 4);
    EXPECT_GT(launches, 10U);
    EXPECT_EQ(engine->variant(), std::string(ecc::opencl::kName));
    // No kernel was found to be wrong.
    EXPECT_EQ(engine_of(curve)->gpus(), 1U);
  }
};

TEST_F(OpenclCurves, EdgesWithTheCoefficientMinusThree) { check(ecc::named_curve(CurveId::p256)); }
TEST_F(OpenclCurves, EdgesWithTheCoefficientZero) { check(ecc::named_curve(CurveId::secp256k1)); }
TEST_F(OpenclCurves, EdgesWithAnyCoefficient) { check(ecc::named_curve(CurveId::brainpool256r1)); }
TEST_F(OpenclCurves, EdgesOfDigitsInMemory) { check(ecc::named_curve(CurveId::p521)); }

/// Calls of the C ABI on P-256.
class OpenclPlans : public OpenclCurves {
 protected:
  static constexpr std::size_t kItems = 5;
  std::vector<Bytes> secrets_, messages_;

  void SetUp() override {
    OpenclCurves::SetUp();
    for (std::size_t i = 0; i < kItems; ++i) {
      secrets_.push_back(manymod::testing::small_secret(32, i));
      messages_.push_back(Bytes(i, std::uint8_t{1}));
    }
  }
  static EccPlan plan_on(const char* device) { return EccPlan(EccCurve("P-256"), {device, "", 1}); }

  [[nodiscard]] std::vector<Bytes> run(EccPlan& plan, mm_ecc_op op, const std::vector<Bytes>& points = {},
                                       const std::vector<Bytes>& signatures = {}) const {
    EccOperands operands;
    EccOptions options;
    options.signature_format = MM_ECC_RECOVERABLE;
    if (op != MM_ECC_RECOVER) operands.secrets = secrets_;
    if (op == MM_ECC_EXCHANGE || op == MM_ECC_PUBLIC_KEY) {
      options.signature_format = MM_ECC_RAW;
    } else {
      operands.messages = messages_;
    }
    operands.points = points;
    operands.signatures = signatures;
    return plan.run(op, kItems, operands, options);
  }
  /// What a new plan is told.
  static std::string refusal() {
    try {
      plan_on("opencl");
    } catch (const wrapper::Error& error) {
      EXPECT_EQ(error.status(), MM_ERR_DEVICE);
      return error.what();
    }
    return {};
  }
};

TEST_F(OpenclPlans, ComputeTheSchemes) {
  EccPlan gpu = plan_on("opencl"), cpu = plan_on("cpu");
  EXPECT_EQ(gpu.variant(), ecc::opencl::kName);
  const std::vector<Bytes> keys = run(cpu, MM_ECC_PUBLIC_KEY), signatures = run(cpu, MM_ECC_SIGN);
  const auto computes = [&](const std::vector<Bytes>& expected, mm_ecc_op op,
                            const std::vector<Bytes>& points = {}, const std::vector<Bytes>& given = {}) {
    const std::size_t before = launches;
    EXPECT_EQ(run(gpu, op, points, given), expected) << op;
    EXPECT_GT(launches, before) << op;
  };
  computes(keys, MM_ECC_PUBLIC_KEY);
  computes(signatures, MM_ECC_SIGN);
  computes(keys, MM_ECC_RECOVER, {}, signatures);
  computes(run(cpu, MM_ECC_EXCHANGE, keys), MM_ECC_EXCHANGE, keys);
}

TEST_F(OpenclPlans, SecretsStayOnTheProcessorUnlessTheDriverIsTrusted) {
  unsetenv("MANYMOD_OPENCL_SECRET");
  EccPlan gpu = plan_on("opencl"), cpu = plan_on("cpu");
  EXPECT_EQ(run(gpu, MM_ECC_PUBLIC_KEY), run(cpu, MM_ECC_PUBLIC_KEY));
  EXPECT_EQ(launches, 0U);
}

TEST_F(OpenclPlans, FailOverWhereKernelsDoNotCompile) {
  replace("clBuildProgram", address(manymod::testing::fail_to_build));
  EccPlan gpu = plan_on("opencl"), cpu = plan_on("cpu");
  EXPECT_EQ(run(gpu, MM_ECC_PUBLIC_KEY), run(cpu, MM_ECC_PUBLIC_KEY));
  EXPECT_NE(refusal().find("cannot compile ecc_three256_base"), std::string::npos) << refusal();
}

TEST_F(OpenclPlans, FailOverWhereKernelsAreWrong) {
  replace("clEnqueueReadBuffer", address(manymod::testing::read_wrongly));
  EccPlan gpu = plan_on("opencl"), cpu = plan_on("cpu");
  EXPECT_EQ(run(gpu, MM_ECC_PUBLIC_KEY), run(cpu, MM_ECC_PUBLIC_KEY));
  EXPECT_NE(refusal().find("ecc_three256_base computes wrong results"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace manymod::test
