// SPDX-License-Identifier: Apache-2.0
#include "field/lane_digits.hpp"

#include "field/lane_digit_loops.hpp"

namespace manymod::field {
namespace {

struct OneLane;
constexpr LaneDigits kOneLane52 = LaneDigitLoops<OneLane, 1, 52>::table();

}  // namespace

const LaneDigits* lane_digits(const lanes::Kernels& kernels) {
  if (kernels.lanes == 1) return kernels.digit_bits == 52 ? &kOneLane52 : nullptr;
#if MANYMOD_X86_64
  if (kernels.lanes == 4) return avx2_lane_digits(kernels.digit_bits);
  if (kernels.lanes == 8) return avx512f_lane_digits(kernels.digit_bits);
#endif
  return nullptr;
}

}  // namespace manymod::field
