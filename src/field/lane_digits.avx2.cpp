// SPDX-License-Identifier: Apache-2.0
#include "field/lane_digits.hpp"
#include "field/lane_digit_loops.hpp"

namespace manymod::field {
namespace {

struct Tag;
constexpr LaneDigits kDigits29 = LaneDigitLoops<Tag, 4, 29>::table();
constexpr LaneDigits kDigits52 = LaneDigitLoops<Tag, 4, 52>::table();

}  // namespace

const LaneDigits* avx2_lane_digits(unsigned digit_bits) {
  if (digit_bits == 29) return &kDigits29;
  return digit_bits == 52 ? &kDigits52 : nullptr;
}

}  // namespace manymod::field
