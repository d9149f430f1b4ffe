// SPDX-License-Identifier: Apache-2.0
// The kernel tables of scalar64 that can run on this processor.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "dispatch/registry.hpp"
#include "modmul/scalar64/kernels.hpp"

namespace manymod::test {

/// A kernel table of scalar64.
struct KernelSet {
  std::string name;
  const scalar64::Kernels* kernels;
};

inline std::vector<KernelSet> usable_kernel_sets() {
  std::vector<KernelSet> sets{{"generic", &scalar64::generic_kernels()}};
#if MANYMOD_X86_64
  const CpuFeatures needed = CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2;
  if ((cpu_info().features & needed) == needed) sets.push_back({"adx", &scalar64::adx_kernels()});
#endif
  return sets;
}

inline std::string kernel_set_name(const testing::TestParamInfo<KernelSet>& info) { return info.param.name; }

}  // namespace manymod::test
