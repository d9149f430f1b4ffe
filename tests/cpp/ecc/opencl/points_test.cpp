// SPDX-License-Identifier: Apache-2.0
// Points on OpenCL devices against the textbook laws. Few curves, as drivers compile the kernels of each
// length.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "ecc/curve_checks.hpp"
#include "ecc/device/known_answers.hpp"
#include "ecc/engine_checks.hpp"
#include "ecc/opencl/fixture.hpp"
#include "ecc/opencl/recorded_formulas.hpp"
#include "ecc/opencl/short_curves.hpp"
#include "ecc/opencl/variants.opencl.hpp"
#include "ecc/scalar64/engine.hpp"

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
  static void check(const ecc::Curve& curve) {
    const auto engine = engine_of(curve);
    check_edges(*engine, 4);
    EXPECT_GT(manymod::testing::opencl_launches, 10U);
    EXPECT_EQ(engine->variant(), std::string(ecc::opencl::kName));
    // No kernel was found to be wrong.
    EXPECT_EQ(engine_of(curve)->gpus(), 1U);
  }
  /// k G alone, since textbook laws take long.
  static void check_base(const ecc::Curve& curve) {
    const auto engine = engine_of(curve), host = ecc::scalar64::variant().make(curve, {});
    const ecc::device::KnownOperands known(*host);
    ecc::device::AnsweredPoints found(curve, known.items().size()), expected(found);
    engine->multiply_base(found.results(), known.u(), known.items(), TimingClass::secret, {});
    host->multiply_base(expected.results(), known.u(), known.items(), TimingClass::secret, {});
    EXPECT_EQ(found, expected);
    EXPECT_EQ(manymod::testing::opencl_launches, 4U);  // with the known answers
    EXPECT_EQ(engine_of(curve)->gpus(), 1U);
  }
};

TEST_F(OpenclPoints, EdgesWithTheCoefficientMinusThree) { check(ecc::named_curve(CurveId::p256)); }
TEST_F(OpenclPoints, EdgesWithTheCoefficientZero) { check(ecc::make_curve(CurveNumbers(kZero).view())); }
TEST_F(OpenclPoints, EdgesWithAnyCoefficient) { check(ecc::make_curve(CurveNumbers(kAny).view())); }

/// P-521, whose elements are too long for registers.
TEST_F(OpenclPoints, DigitsInMemory) { check_base(ecc::named_curve(CurveId::p521)); }
/// The longest primes, whose elements have 28 digits.
TEST_F(OpenclPoints, LongestPrimes) {
  const ecc::Curve& curve = prime_order_curves().front().curve;
  ASSERT_EQ(curve.field_bits, ecc::opencl::kMaxFieldBits);
  check_base(curve);
}

/// No kernel is built for short primes, and Weierstrass curves of even order.
TEST(OpenclVariant, OffersCurvesWithoutExceptionalCases) {
  const auto offers = ecc::opencl::variant().offers;
  for (const ecc::Curve& curve : ecc::named_curves()) EXPECT_TRUE(offers(curve)) << curve.name;
  for (const TestCurve& tiny : tiny_curves()) EXPECT_FALSE(offers(tiny.curve)) << tiny.description;
  for (const TestCurve& even : supersingular_curves()) EXPECT_FALSE(offers(even.curve)) << even.description;
}

}  // namespace
}  // namespace manymod::test
