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
#include "ecc/opencl/variants.opencl.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/test_curves.hpp"

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

/// secp160k1 of SEC 2 (version 1), whose order is longer than p, and a curve that is isomorphic to secp112r1
/// by (x, y) -> (4 x, 8 y): short primes, whose kernels are soon compiled.
constexpr HexCurve kZero{"a = 0",
                         MM_ECC_WEIERSTRASS,
                         "fffffffffffffffffffffffffffffffeffffac73",
                         "00",
                         "07",
                         "3b4c382ce37aa192a4019e763036f4f5dd4d7ebb",
                         "938cf935318fdced6bc28286531733c3f03c4fee",
                         "0100000000000000000001b8fa16dfab9aca16b6b3",
                         "01"};
constexpr HexCurve kAny{"any a",
                        MM_ECC_WEIERSTRASS,
                        "db7c2abf62e35e668076bead208b",
                        "db7c2abf62e35e668076bead205b",
                        "8aad56d2da840a1b14d0c26e18c1",
                        "2521c8e665697b9dad57e70bc260",
                        "1ffe2cffe7d1ceaaeda807ace4be",
                        "db7c2abf62e35e7628dfac6561c5",
                        "01"};

TEST_F(OpenclPoints, EdgesWithTheCoefficientMinusThree) { check(ecc::named_curve(CurveId::p256)); }
TEST_F(OpenclPoints, EdgesWithTheCoefficientZero) { check(ecc::make_curve(CurveNumbers(kZero).view())); }
TEST_F(OpenclPoints, EdgesWithAnyCoefficient) { check(ecc::make_curve(CurveNumbers(kAny).view())); }

/// P-521, whose elements are too long for registers.
TEST_F(OpenclPoints, DigitsInMemory) {
  const ecc::Curve& curve = ecc::named_curve(CurveId::p521);
  const auto engine = engine_of(curve), host = ecc::scalar64::variant().make(curve, {});
  const ecc::device::KnownOperands known(*host);
  ecc::device::AnsweredPoints found(curve, known.items().size()), expected(found);
  engine->multiply_base(found.results(), known.u(), known.items(), TimingClass::secret, {});
  host->multiply_base(expected.results(), known.u(), known.items(), TimingClass::secret, {});
  EXPECT_EQ(found, expected);
  EXPECT_EQ(manymod::testing::opencl_launches, 4U);  // with the known answers
  EXPECT_EQ(engine_of(curve)->gpus(), 1U);
}

/// What no kernel is built for: short primes, orders with even cofactors, other forms.
TEST(OpenclVariant, OffersCurvesOfOddOrder) {
  const auto offers = ecc::opencl::variant().offers;
  for (const ecc::Curve& curve : ecc::named_curves()) {
    EXPECT_EQ(offers(curve), curve.form == MM_ECC_WEIERSTRASS) << curve.name;
  }
  for (const TestCurve& tiny : tiny_curves()) EXPECT_FALSE(offers(tiny.curve)) << tiny.description;
  for (const TestCurve& even : supersingular_curves()) EXPECT_FALSE(offers(even.curve)) << even.description;
}

}  // namespace
}  // namespace manymod::test
