// SPDX-License-Identifier: Apache-2.0
// Every variant of point arithmetic on every curve that it offers.
#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/devices.hpp"
#include "ecc/engine_checks.hpp"
#include "ecc/sum_comparison.hpp"
#include "ecc/test_curves.hpp"
#include "ecc/variants.hpp"
#include "support/brief.hpp"

namespace manymod::test {
namespace {

/// The devices of a variant's backend that can be used; none for the processor.
std::vector<unsigned> devices_of(const ecc::Variant& variant) {
  std::vector<unsigned> indices;
  if (variant.backend == Backend::cpu) return indices;
  for (const Device& device : devices_for(device_option(variant.backend))) {
    if (device.backend == variant.backend && device.obstacle.empty()) indices.push_back(device.index);
  }
  return indices;
}

class Engines : public testing::TestWithParam<const char*> {
 protected:
  const ecc::Variant& variant_ = *ecc::find_variant(GetParam());

  void SetUp() override {
    if (!variant_.runs_here()) GTEST_SKIP() << "this machine does not run " << variant_.name;
  }
  [[nodiscard]] std::unique_ptr<const ecc::PointEngine> make(const ecc::Curve& curve) const {
    auto engine = variant_.make(curve, devices_of(variant_));
    EXPECT_STREQ(engine->variant(), variant_.name);
    EXPECT_EQ(&engine->curve(), &curve);
    EXPECT_GE(engine->granularity(), 1U);
    return engine;
  }
};

TEST_P(Engines, AllPointsOfTinyCurves) {
  for (const TestCurve& tiny : tiny_curves()) {
    if (!variant_.offers(tiny.curve)) continue;
    SCOPED_TRACE(tiny.description);
    check_every_point(*make(tiny.curve));
  }
}

TEST_P(Engines, EdgesOfLargeCurvesWithEvenCofactors) {
  std::size_t number = 0;
  for (const TestCurve& large : supersingular_curves()) {
    // The widest and the shortest are enough for brief tests.
    if (!variant_.offers(large.curve) || (kBriefTests && number++ == 1)) continue;
    SCOPED_TRACE(large.description);
    check_edges(*make(large.curve), 1);
  }
}

/// More terms than one set of buckets takes: multiples of G by scalars and points modulo a tiny order.
TEST_P(Engines, SumsOfManyTerms) {
  constexpr std::size_t kTerms = (std::size_t{1} << 17) + 1000;
  const ecc::Curve& curve = tiny_curves()[1].curve;
  if (!variant_.offers(curve)) return;
  const auto engine = make(curve);
  const Limb n = curve.n[0];
  std::vector<Limb> multiples(n - 1), x(n - 1), y(n - 1);
  for (Limb i = 0; i + 1 < n; ++i) multiples[i] = i + 1;
  std::vector<std::uint8_t> infinity(n - 1);
  engine->multiply_base({x.data(), y.data(), infinity.data()}, {multiples.data(), 1}, {0, n - 1},
                        TimingClass::public_, {});
  std::vector<Limb> k(kTerms), px(kTerms), py(kTerms);
  Limb total = 0;
  for (std::size_t i = 0; i < kTerms; ++i) {
    const std::size_t factor = i * i % (n - 1);  // of G, less 1
    k[i] = i % 11;
    px[i] = x[factor];
    py[i] = y[factor];
    total = (total + k[i] * (factor + 1)) % n;
  }
  ASSERT_NE(total, 0U);
  Limb sum_x = 0, sum_y = 0;
  std::uint8_t infinite = 9;
  engine->sum({&sum_x, &sum_y, &infinite}, {k.data(), 1}, {{px.data(), 1}, {py.data(), 1}, nullptr},
              {0, kTerms}, {});
  EXPECT_EQ(infinite, 0);
  EXPECT_EQ(sum_x, x[total - 1]);
  EXPECT_EQ(sum_y, y[total - 1]);
}

/// A stop that was requested before the call leaves nearly all of many items as they were.
TEST_P(Engines, LeavesEarly) {
  constexpr std::size_t kItems = 20000;
  const ecc::Curve& curve = ecc::named_curve(ecc::CurveId::ed25519);
  if (!variant_.offers(curve)) GTEST_SKIP() << variant_.name << " does not offer " << curve.name;
  const auto engine = make(curve);
  const std::atomic<bool> requested{true};
  const StopToken stop(&requested);
  std::vector<Limb> x(kItems * curve.limbs()), y(x);
  const ecc::PointRows generator{{curve.x.data(), 0}, {curve.y.data(), 0}, nullptr};
  std::vector<Limb> scalar = curve.n;
  scalar[0] -= 1;
  const ecc::NumberRows k{scalar.data(), 0};
  for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
    engine->multiply_base({x.data(), y.data(), nullptr}, k, {0, kItems}, timing, stop);
    engine->multiply({x.data(), y.data(), nullptr}, k, generator, {0, kItems}, timing, stop);
  }
  engine->multiply_two({x.data(), y.data(), nullptr}, k, k, generator, {0, kItems}, stop);
  EXPECT_EQ(x.back(), 0U);
  EXPECT_EQ(y.back(), 0U);
  if (const ecc::SumComparison* const comparison = engine->comparison(); comparison != nullptr) {
    std::vector<std::uint8_t> equal(kItems, 2);
    comparison->compare(equal.data(), k, k, generator, generator, 0, {0, kItems}, stop);
    EXPECT_EQ(equal.back(), 2);
  }
  engine->sum({x.data(), y.data(), nullptr}, k, generator, {0, kItems}, stop);
}

/// OpenCL drivers compile kernels for each length of primes: ecc/opencl/points_test.cpp has few of them.
bool is_tested_here(const ecc::Variant& variant) { return variant.backend != Backend::opencl; }

std::vector<const char*> variant_names() {
  std::vector<const char*> names;
  for (const ecc::Variant& variant : ecc::variants())
    if (is_tested_here(variant)) names.push_back(variant.name);
  return names;
}
std::string test_name(std::string name) {
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Variants, Engines, testing::ValuesIn(variant_names()),
                         [](const auto& test) { return test_name(test.param); });

/// A variant and a curve that it offers.
struct Offer {
  const ecc::Variant* variant;
  const ecc::Curve* curve;
};

/// Brief tests leave out most curves of this variant: it is lanes.radix29.avx2 in wider vectors.
bool is_omitted(const ecc::Variant& variant, const ecc::Curve& curve) {
  const std::string name = curve.name;
  return kBriefTests && std::string(variant.name) == "lanes.radix29.avx512" && name != "P-256" &&
         name != "P-521" && name != "BN254" && name != "Ed25519";
}

std::vector<Offer> offers() {
  std::vector<Offer> all;
  for (const ecc::Variant& variant : ecc::variants()) {
    for (const ecc::Curve& curve : ecc::named_curves())
      if (is_tested_here(variant) && variant.offers(curve) && !is_omitted(variant, curve))
        all.push_back({&variant, &curve});
  }
  return all;
}

class EnginesOfNamedCurves : public testing::TestWithParam<Offer> {};

TEST_P(EnginesOfNamedCurves, Edges) {
  const auto& [variant, curve] = GetParam();
  if (!variant->runs_here()) GTEST_SKIP() << "this machine does not run " << variant->name;
  check_edges(*variant->make(*curve, devices_of(*variant)), 2);
}

INSTANTIATE_TEST_SUITE_P(Variants, EnginesOfNamedCurves, testing::ValuesIn(offers()), [](const auto& test) {
  return test_name(std::string(test.param.variant->name) + "_" + test.param.curve->name);
});

TEST(Variants, TheLastRunsEverywhereAndOffersEveryCurve) {
  const ecc::Variant& last = ecc::variants().back();
  EXPECT_STREQ(last.name, "scalar64");
  EXPECT_TRUE(last.runs_here());
  for (const ecc::Curve& curve : ecc::named_curves()) EXPECT_TRUE(last.offers(curve));
  for (const TestCurve& tiny : tiny_curves()) EXPECT_TRUE(last.offers(tiny.curve));
  EXPECT_EQ(ecc::find_variant("none"), nullptr);
}

}  // namespace
}  // namespace manymod::test
