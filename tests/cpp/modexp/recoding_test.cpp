// SPDX-License-Identifier: Apache-2.0
#include "modexp/recoding.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "modexp/limb_bits.hpp"

namespace manymod::recoding {
namespace {

std::int64_t value_of(const SignedDigit& digit) {
  const auto magnitude = static_cast<std::int64_t>(digit.magnitude);
  return digit.negative == 1 ? -magnitude : magnitude;
}

TEST(SignedWindows, DigitsOfAllSmallExponentsAddUp) {
  constexpr unsigned kBits = 10;
  for (unsigned width = 1; width <= 7; ++width) {
    for (Limb exponent = 0; exponent < Limb{1} << kBits; ++exponent) {
      const LimbBits bits(std::span(&exponent, 1));
      std::int64_t sum = 0;
      for (unsigned i = signed_digit_count(kBits, width); i-- > 0;) {
        const SignedDigit digit = signed_digit(bits, width, i);
        ASSERT_LE(digit.magnitude, 1U << (width - 1));
        ASSERT_LE(digit.negative, 1U);
        sum = (sum << width) + value_of(digit);
      }
      ASSERT_EQ(sum, static_cast<std::int64_t>(exponent)) << "width " << width;
    }
  }
}

TEST(SignedWindows, DigitsCrossLimbs) {
  constexpr std::array<Limb, 2> kExponent = {~Limb{0}, 1};  // 2^65 - 1
  const LimbBits bits(kExponent);
  for (unsigned width = 2; width <= 16; ++width) {
    const unsigned count = signed_digit_count(65, width);
    for (unsigned i = 0; i < count; ++i) {
      const std::int64_t top =
          i * width <= 65 && 65 < (i + 1) * width ? std::int64_t{1} << (65 - i * width) : 0;
      // 2^65 - 1 is the digit of 2^65, where the windows above bit 65 are 0, and -1 at the bottom.
      const std::int64_t sum = top - (i == 0 ? 1 : 0);
      ASSERT_EQ(value_of(signed_digit(bits, width, i)), sum) << "width " << width << ", digit " << i;
    }
  }
}

}  // namespace
}  // namespace manymod::recoding
