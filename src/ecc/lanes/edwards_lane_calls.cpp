// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/edwards_lane_calls.hpp"

namespace manymod::ecc::lanes {

std::span<const EdwardsLaneBackend> edwards_lane_backends() {
#if MANYMOD_X86_64
  constexpr CpuFeatures kAvx2 = CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma;
  constexpr CpuFeatures kAvx512 = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                  CpuFeature::avx512bw | CpuFeature::avx512vl;
  static const EdwardsLaneBackend backends[] = {
      {"lanes.ifma52", kAvx512 | CpuFeature::avx512ifma, &avx512ifma_edwards25519(),
       &avx512ifma_edwards448()},
      {"lanes.radix29.avx512", kAvx512, &avx512f_edwards25519(), &avx512f_edwards448()},
      {"lanes.radix29.avx2", kAvx2, &avx2_edwards25519(), &avx2_edwards448()},
  };
  return backends;
#else
  return {};
#endif
}

}  // namespace manymod::ecc::lanes
