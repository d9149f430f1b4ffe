// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/point_lane_calls.hpp"

namespace manymod::ecc::lanes {

std::span<const PointLaneBackend> point_lane_backends() {
#if MANYMOD_X86_64
  constexpr CpuFeatures kAvx2 = CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma;
  constexpr CpuFeatures kAvx512 = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                  CpuFeature::avx512bw | CpuFeature::avx512vl;
  static const PointLaneCalls* const ifma52[] = {
      &avx512ifma_p256(), &avx512ifma_sm2(), &avx512ifma_secp256k1(), &avx512ifma_p384(), &avx512ifma_p521()};
  static const PointLaneCalls* const radix29_avx512[] = {
      &avx512f_p256(), &avx512f_sm2(), &avx512f_secp256k1(), &avx512f_p384(), &avx512f_p521()};
  static const PointLaneCalls* const radix29_avx2[] = {&avx2_p256(), &avx2_sm2(), &avx2_secp256k1(),
                                                       &avx2_p384(), &avx2_p521()};
  static const PointLaneBackend backends[] = {
      {"lanes.ifma52", kAvx512 | CpuFeature::avx512ifma, ifma52, avx512ifma_runtime_curves()},
      {"lanes.radix29.avx512", kAvx512, radix29_avx512, avx512f_runtime_curves()},
      {"lanes.radix29.avx2", kAvx2, radix29_avx2, avx2_runtime_curves()},
  };
  return backends;
#else
  return {};
#endif
}

}  // namespace manymod::ecc::lanes
