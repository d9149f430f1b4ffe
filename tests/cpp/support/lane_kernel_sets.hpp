// SPDX-License-Identifier: Apache-2.0
// The kernel tables of all vector techniques, and the processor features that each needs.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "dispatch/registry.hpp"
#include "lanes/kernels.hpp"
#include "modmul/dpf52/kernels.hpp"
#include "modmul/ifma52/kernels.hpp"
#include "modmul/ifma52/row.hpp"
#include "modmul/radix29/kernels.hpp"
#include "modmul/vcpc512/kernels.hpp"

namespace manymod::test {

/// A kernel table and its properties.
struct LaneKernelSet {
  std::string name;
  const lanes::Kernels* kernels;
  CpuFeatures needed;
  /// True if the bits above w of a word are undefined in results and ignored in operands; otherwise they are
  /// 0.
  bool loose_digits = false;
  /// True if a < R and b <= n give r < 2 n + n / 2^w instead of r < 2 n.
  bool slack = false;
};

/// Prints the name in messages of GoogleTest.
inline std::ostream& operator<<(std::ostream& out, const LaneKernelSet& set) { return out << set.name; }

/// All tables of this build, including those that the processor cannot run.
inline std::vector<LaneKernelSet> lane_kernel_sets() {
  std::vector<LaneKernelSet> sets;
#if MANYMOD_X86_64
  const CpuFeatures avx2 = CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma;
  const CpuFeatures avx512 = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                             CpuFeature::avx512bw | CpuFeature::avx512vl;
  const CpuFeatures ifma = avx512 | CpuFeature::avx512ifma;
  sets.push_back({"ifma52_avx512_storing", &ifma52::storing_kernels(), ifma, true, false});
  sets.push_back({"ifma52_avx512_blending", &ifma52::blending_kernels(), ifma, true, false});
  sets.push_back({"ifma52_row", &ifma52::row_kernels(), ifma, false, true});
  sets.push_back({"dpf52_avx512f", &dpf52::avx512f_kernels().lanes, avx512});
  sets.push_back({"dpf52_avx2", &dpf52::avx2_kernels().lanes, avx2});
  sets.push_back({"radix29_avx512f", &radix29::avx512f_kernels(), avx512});
  sets.push_back({"radix29_avx2", &radix29::avx2_kernels(), avx2});
  sets.push_back({"vcpc512_avx512f", &vcpc512::avx512f_kernels(), avx512});
#endif
  return sets;
}

/// The names of the features that the processor lacks for a table; "" if the table can run.
inline std::string missing_features(const LaneKernelSet& set) {
  return cpu_feature_names(set.needed & ~cpu_info().features);
}

inline std::string lane_kernel_set_name(const ::testing::TestParamInfo<LaneKernelSet>& info) {
  return info.param.name;
}

/// Base of tests over every table. Tables that the processor cannot run are skipped with a message.
class LaneKernelTest : public ::testing::TestWithParam<LaneKernelSet> {
 protected:
  void SetUp() override {
    const std::string missing = missing_features(GetParam());
    if (!missing.empty()) GTEST_SKIP() << "this processor lacks " << missing;
  }
  [[nodiscard]] static const lanes::Kernels& kernels() { return *GetParam().kernels; }
};

}  // namespace manymod::test
