// SPDX-License-Identifier: Apache-2.0
#include "field/special_lane_calls.hpp"

namespace manymod::field {

std::span<const SpecialLaneBackend> special_lane_backends() {
#if MANYMOD_X86_64
  constexpr CpuFeatures kAvx2 = CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma;
  constexpr CpuFeatures kAvx512 = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                  CpuFeature::avx512bw | CpuFeature::avx512vl;
  static const SpecialLaneBackend backends[] = {
      {"avx512ifma", kAvx512 | CpuFeature::avx512ifma, avx512ifma_special_lanes()},
      {"avx512f", kAvx512, avx512f_special_lanes()},
      {"avx2", kAvx2, avx2_special_lanes()},
  };
  return backends;
#else
  return {};
#endif
}

}  // namespace manymod::field
