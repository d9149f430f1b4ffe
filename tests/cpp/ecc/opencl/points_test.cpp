// SPDX-License-Identifier: Apache-2.0
// Points on OpenCL devices against the textbook laws. Few curves, as drivers compile the kernels of each
// length.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "ecc/engine_checks.hpp"
#include "ecc/opencl/fixture.hpp"
#include "ecc/opencl/recorded_formulas.hpp"
#include "ecc/opencl/variants.opencl.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;

/// A failure shows what src/ecc/opencl/formulas.clh is to be.
TEST(OpenclFormulas, AreThoseOfTheTemplates) {
  const auto sources = opencl::kernel_sources();
  const auto kernels = std::ranges::find(sources, "ecc/opencl/kernels", &opencl::KernelSource::name);
  ASSERT_NE(kernels, sources.end());
  const std::string recorded = recorded_formulas();
  EXPECT_NE(kernels->text.find(recorded), std::string_view::npos) << recorded;
}

class OpenclPoints : public manymod::testing::OpenclCurves {
 protected:
  static std::unique_ptr<const ecc::PointEngine> engine_of(const ecc::Curve& curve) {
    constexpr unsigned kFirst = 0;
    return ecc::opencl::variant().make(curve, {&kFirst, 1});
  }
  static void check(const ecc::Curve& curve) {
    const auto engine = engine_of(curve);
    check_edges(*engine, 4);
    EXPECT_GT(manymod::testing::opencl_launches, 10U);
    EXPECT_EQ(engine->variant(), std::string(ecc::opencl::kName));
    // No kernel was found to be wrong.
    EXPECT_EQ(engine_of(curve)->gpus(), 1U);
  }
};

TEST_F(OpenclPoints, EdgesWithTheCoefficientMinusThree) { check(ecc::named_curve(CurveId::p256)); }
TEST_F(OpenclPoints, EdgesWithTheCoefficientZero) { check(ecc::named_curve(CurveId::secp256k1)); }
TEST_F(OpenclPoints, EdgesWithAnyCoefficient) { check(ecc::named_curve(CurveId::brainpool256r1)); }
TEST_F(OpenclPoints, EdgesOfDigitsInMemory) { check(ecc::named_curve(CurveId::p521)); }

}  // namespace
}  // namespace manymod::test
