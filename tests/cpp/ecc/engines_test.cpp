// SPDX-License-Identifier: Apache-2.0
// Every variant of point arithmetic on every curve that it offers.
#include <gtest/gtest.h>

#include <cctype>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ecc/engine_checks.hpp"
#include "ecc/test_curves.hpp"
#include "ecc/variants.hpp"

namespace manymod::test {
namespace {

class Engines : public testing::TestWithParam<const char*> {
 protected:
  const ecc::Variant& variant_ = *ecc::find_variant(GetParam());

  void SetUp() override {
    if (!variant_.runs_here()) GTEST_SKIP() << "this machine does not run " << variant_.name;
  }
  [[nodiscard]] std::unique_ptr<const ecc::PointEngine> make(const ecc::Curve& curve) const {
    auto engine = variant_.make(curve, 0);
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
  for (const TestCurve& large : supersingular_curves()) {
    if (!variant_.offers(large.curve)) continue;
    SCOPED_TRACE(large.description);
    check_edges(*make(large.curve), 1);
  }
}

std::vector<const char*> variant_names() {
  std::vector<const char*> names;
  for (const ecc::Variant& variant : ecc::variants()) names.push_back(variant.name);
  return names;
}
std::string test_name(std::string name) {
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Variants, Engines, testing::ValuesIn(variant_names()),
                         [](const auto& test) { return test_name(test.param); });

class EnginesOfNamedCurves : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {};

TEST_P(EnginesOfNamedCurves, Edges) {
  const auto& [name, index] = GetParam();
  const ecc::Variant& variant = *ecc::find_variant(name);
  const ecc::Curve& curve = ecc::named_curves()[index];
  if (!variant.runs_here()) GTEST_SKIP() << "this machine does not run " << name;
  if (!variant.offers(curve)) GTEST_SKIP() << name << " does not offer " << curve.name;
  check_edges(*variant.make(curve, 0), 2);
}

INSTANTIATE_TEST_SUITE_P(Variants, EnginesOfNamedCurves,
                         testing::Combine(testing::ValuesIn(variant_names()),
                                          testing::Range(std::size_t{0}, ecc::named_curves().size())),
                         [](const auto& test) {
                           return test_name(std::string(std::get<0>(test.param)) + "_" +
                                            ecc::named_curves()[std::get<1>(test.param)].name);
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
