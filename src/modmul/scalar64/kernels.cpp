// SPDX-License-Identifier: Apache-2.0
#include "modmul/scalar64/kernels.hpp"

#include "core/cpu_features.hpp"

namespace manymod::scalar64 {

const Kernels& fastest_kernels() {
#if MANYMOD_X86_64
  constexpr CpuFeatures kNeeded = CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2;
  if ((cpu_info().features & kNeeded) == kNeeded) return adx_kernels();
#endif
  return generic_kernels();
}

}  // namespace manymod::scalar64
