// SPDX-License-Identifier: Apache-2.0
// Sums of points on OpenCL devices, and of multiples of many by buckets, against the processor's.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ecc/curve_checks.hpp"
#include "ecc/device/known_answers.hpp"
#include "ecc/opencl/fixture.hpp"
#include "ecc/opencl/short_curves.hpp"
#include "ecc/opencl/sum_operands.hpp"
#include "ecc/opencl/variants.opencl.hpp"
#include "ecc/scalar64/engine.hpp"
#include "repr/limbs.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;
using ecc::ItemRange;
using ecc::NumberRows;
using ecc::PointRows;
using ecc::device::AnsweredPoints;
using manymod::testing::opencl_launches;

class OpenclSums : public manymod::testing::OpenclCurves {
 protected:
  static constexpr std::size_t kCount = 300;

  /// The device computes what the processor does, in a range of the items.
  static void check(const ecc::Curve& curve) {
    const SumOperands operands(curve, kCount);
    const ItemRange items{1, kCount - 1};
    const auto engine = engine_of(curve);
    const bool adds_two = curve.has_cofactor_one();
    EXPECT_EQ(engine->computes(ecc::PointOperation::add), adds_two);
    EXPECT_TRUE(engine->computes(ecc::PointOperation::sum));
    // Kernels that were found to be wrong at first would not be launched again.
    for (int round = 0; round < 2; ++round) {
      opencl_launches = 0;
      EXPECT_EQ(operands.sums(*engine, items), operands.sums(operands.host(), items));
      const std::size_t of_two = opencl_launches;
      EXPECT_EQ(of_two > 0, adds_two);
      EXPECT_EQ(operands.total(*engine, items), operands.total(operands.host(), items));
      EXPECT_GT(opencl_launches, of_two);
    }
  }
};

TEST_F(OpenclSums, WithTheCoefficientMinusThree) { check(ecc::named_curve(CurveId::p256)); }
TEST_F(OpenclSums, WithTheCoefficientZero) { check(ecc::make_curve(CurveNumbers(kZero).view())); }
TEST_F(OpenclSums, WithAnyCoefficient) { check(ecc::make_curve(CurveNumbers(kAny).view())); }

TEST_F(OpenclSums, OnShortEdwardsCurves) { check(ecc::make_curve(CurveNumbers(kShortEdwards).view())); }

/// Sums of two points of Ed25519 may be secret, and stay on the processor.
TEST_F(OpenclSums, OnEdwardsCurves) { check(ecc::named_curve(CurveId::ed25519)); }

/// All terms of several chunks in one bucket of each window, which is added up in stages; one scalar for all.
TEST_F(OpenclSums, OfEqualTerms) {
  constexpr std::size_t kTerms = 9000;
  const ecc::Curve curve = ecc::make_curve(CurveNumbers(kAny).view());
  const auto host = ecc::scalar64::variant().make(curve, {});
  const NumberRows k{curve.y.data(), 0};
  const PointRows g{{curve.x.data(), 0}, {curve.y.data(), 0}};
  AnsweredPoints found(curve, 1), expected(found);
  engine_of(curve)->sum(found.results(), k, g, {0, kTerms}, {});
  EXPECT_GT(opencl_launches, 0U);
  std::vector<Limb> factor(curve.scalar_limbs());
  for (std::size_t i = 0; i < kTerms; ++i) limbs::add_mod(factor, factor, curve.y, curve.n);
  host->multiply_base(expected.results(), {factor.data(), 0}, {0, 1}, TimingClass::public_, {});
  EXPECT_EQ(found, expected);
}

/// What no kernel is launched for.
TEST_F(OpenclSums, FewAreTheProcessors) {
  const ecc::Curve curve = ecc::make_curve(CurveNumbers(kAny).view());
  const SumOperands operands(curve, kCount);
  const auto engine = engine_of(curve);
  EXPECT_EQ(operands.sums(*engine, {0, 200}), operands.sums(operands.host(), {0, 200}));
  EXPECT_EQ(operands.total(*engine, {0, 200}), operands.total(operands.host(), {0, 200}));
  EXPECT_EQ(opencl_launches, 0U);
}

/// clBuildProgram that fails for kernels of sums.
opencl::Status fail_to_build_sums(opencl::ProgramHandle program, std::uint32_t count,
                                  const opencl::DeviceHandle* devices, const char* options, void* notify,
                                  void* data) {
  if (std::strstr(options, "-DMM_PART_terms") != nullptr) return -11;  // CL_BUILD_PROGRAM_FAILURE
  return manymod::testing::own<decltype(&fail_to_build_sums)>("clBuildProgram")(program, count, devices,
                                                                                options, notify, data);
}

/// Sums whose kernels do not compile are the processor's, and checks of points stay on the device.
TEST_F(OpenclSums, FailByThemselves) {
  replace("clBuildProgram", manymod::testing::address(fail_to_build_sums));
  const ecc::Curve curve = ecc::make_curve(CurveNumbers(kAny).view());
  const SumOperands operands(curve, kCount);
  const auto engine = engine_of(curve);
  const ItemRange all{0, kCount};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(operands.sums(*engine, all), operands.sums(operands.host(), all));
    EXPECT_EQ(operands.total(*engine, all), operands.total(operands.host(), all));
  }
  const std::size_t before = opencl_launches;
  std::vector<std::uint8_t> valid(kCount);
  engine->check(valid.data(), operands.p(), all);
  EXPECT_EQ(valid, std::vector<std::uint8_t>(kCount, 1));
  EXPECT_GT(opencl_launches, before);
  EXPECT_EQ(engine_of(curve)->gpus(), 1U);
}

}  // namespace
}  // namespace manymod::test
