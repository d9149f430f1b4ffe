// SPDX-License-Identifier: Apache-2.0
// Edwards and Montgomery curves on OpenCL devices: points against the textbook laws, and EdDSA, X25519 and
// X448 against the processor's.
#include <gtest/gtest.h>

#include <cstddef>

#include "ecc/curve_checks.hpp"
#include "ecc/device/known_answers.hpp"
#include "ecc/engine_checks.hpp"
#include "ecc/opencl/fixture.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/test_curves.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;
using ecc::device::AnsweredPoints;

class OpenclEdwards : public manymod::testing::OpenclCurves {
 protected:
  static void check(const ecc::Curve& curve, std::size_t launches) {
    const auto engine = engine_of(curve);
    check_edges(*engine, 5);
    EXPECT_GE(manymod::testing::opencl_launches, launches);
    // No kernel was found to be wrong.
    EXPECT_EQ(engine_of(curve)->gpus(), 1U);
  }
  /// Known answers, and their launches, two for each and two for the call; k P and k G of secrets.
  static constexpr std::size_t kLaunchesOfPoints = 12, kLaunchesOfLadders = 6;
};

/// Isomorphic to edwards25519 by (x, y) -> (x / 2, y): a = -4.
constexpr HexCurve kTwisted{"a = -4",
                            MM_ECC_EDWARDS,
                            "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed",
                            "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe9",
                            "480db3b8adbff9ce331d01e5dde7a26001c02935050762add7ad37284d65e2b2",
                            "10b49b69e6b729ff60527118feeb6e2e349663b04a92d3d964ab16b04792ea8d",
                            "6666666666666666666666666666666666666666666666666666666666666658",
                            "1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed",
                            "08"};

TEST_F(OpenclEdwards, EdgesWithTheCoefficientMinusOne) {
  check(ecc::named_curve(CurveId::ed25519), kLaunchesOfPoints);
}
TEST_F(OpenclEdwards, EdgesWithAnyCoefficient) {
  check(ecc::make_curve(CurveNumbers(kTwisted).view()), kLaunchesOfPoints);
}
TEST_F(OpenclEdwards, LaddersOfX25519) { check(ecc::named_curve(CurveId::x25519), kLaunchesOfLadders); }
TEST_F(OpenclEdwards, LaddersOfX448) { check(ecc::named_curve(CurveId::x448), kLaunchesOfLadders); }

/// a = 1: fewer points, as textbook laws take long for 448 bits.
TEST_F(OpenclEdwards, Ed448) {
  const ecc::Curve& curve = ecc::named_curve(CurveId::ed448);
  const auto engine = engine_of(curve), host = ecc::scalar64::variant().make(curve, {});
  const ecc::device::KnownOperands known(*host);
  const auto same = [&](const auto& compute) {
    AnsweredPoints found(curve, known.items().size()), expected(found);
    compute(*engine, found.results());
    compute(*host, expected.results());
    EXPECT_EQ(found, expected);
  };
  same([&](const ecc::PointEngine& on, const ecc::PointResults& r) {
    on.multiply_base(r, known.u(), known.items(), TimingClass::secret, {});
  });
  same([&](const ecc::PointEngine& on, const ecc::PointResults& r) {
    on.multiply(r, known.v(), known.points(), known.items(), TimingClass::secret, {});
  });
  same([&](const ecc::PointEngine& on, const ecc::PointResults& r) {
    on.multiply_two(r, known.u(), known.v(), known.points(), known.items(), {});
  });
  EXPECT_EQ(manymod::testing::opencl_launches, kLaunchesOfPoints);
  EXPECT_EQ(engine_of(curve)->gpus(), 1U);
}

}  // namespace
}  // namespace manymod::test
