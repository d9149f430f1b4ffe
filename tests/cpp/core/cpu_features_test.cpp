// SPDX-License-Identifier: Apache-2.0
// Detection of CPU features, and names of features.
#include "core/cpu_features.hpp"

#include <gtest/gtest.h>

namespace manymod::testing {
namespace {

TEST(CpuFeatures, NamesRoundTrip) {
  const std::string all = cpu_feature_names(~CpuFeatures{0});
  EXPECT_EQ(all, "bmi2 adx avx2 fma avx512f avx512dq avx512bw avx512vl avx512ifma avx512vbmi");
  EXPECT_EQ(cpu_feature_names(parse_cpu_features(all)), all);
  EXPECT_EQ(parse_cpu_features("all"), parse_cpu_features(all));
  EXPECT_EQ(cpu_feature_names(0), "");
}

TEST(CpuFeatures, ListsTakeSpacesAndCommas) {
  EXPECT_EQ(parse_cpu_features(""), 0u);
  EXPECT_EQ(parse_cpu_features(" , ,"), 0u);
  EXPECT_EQ(parse_cpu_features("adx"), static_cast<CpuFeatures>(CpuFeature::adx));
  EXPECT_EQ(parse_cpu_features(", adx,,avx2 "), CpuFeature::adx | CpuFeature::avx2);
  EXPECT_EQ(parse_cpu_features("AVX2 avx avx51"), 0u);
}

TEST(CpuFeatures, UnknownNamesAreReported) {
  EXPECT_EQ(unknown_cpu_features(""), "");
  EXPECT_EQ(unknown_cpu_features("all, adx,avx2"), "");
  EXPECT_EQ(unknown_cpu_features("AVX2 avx,,adx avx51 "), "AVX2 avx avx51");
  EXPECT_EQ(unknown_cpu_features("a\tb\xff"), "a?b?");
}

TEST(CpuFeatures, ProbeAgreesWithTheCompiler) {
#if defined(__x86_64__) && defined(__GNUC__)
  const CpuFeatures found = probe_cpu_features();
  const auto has = [found](CpuFeature feature) { return (found & static_cast<CpuFeatures>(feature)) != 0; };
  EXPECT_EQ(has(CpuFeature::bmi2), __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ(has(CpuFeature::avx2), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(has(CpuFeature::fma), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(has(CpuFeature::avx512f), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(has(CpuFeature::avx512vl), __builtin_cpu_supports("avx512vl") != 0);
  EXPECT_EQ(has(CpuFeature::avx512ifma), __builtin_cpu_supports("avx512ifma") != 0);
#else
  EXPECT_EQ(probe_cpu_features(), 0u);
#endif
}

TEST(CpuFeatures, MachineFacts) {
  EXPECT_FALSE(cpu_info().model.empty());
  EXPECT_GE(usable_cpu_count(), 1u);
#if defined(__linux__)
  EXPECT_GT(cpu_info().memory_bytes, 1u << 20);
#endif
}

}  // namespace
}  // namespace manymod::testing
