// SPDX-License-Identifier: Apache-2.0
// Digits of exponents. Timing: constant; the addresses depend on the digit's position only.
#pragma once

#include <cstdint>

#include "core/portable.hpp"
#include "gpu/program/program.hpp"
#include "repr/word_memory.hpp"

namespace manymod::gpu {

/// Bits first .. first + count - 1 of `exponent`. On input: count < 32.
MM_DEVICE std::uint32_t window_value(std::uint32_t first, std::uint32_t count, const WordSource& exponent) {
  const std::uint32_t word = first / 32;
  const std::uint64_t pair = std::uint64_t{exponent[word + 1]} << 32 | exponent[word];
  return static_cast<std::uint32_t>(pair >> (first % 32)) & ((1u << count) - 1);
}

/// The digit of `exponent` that `digit` describes.
MM_DEVICE std::uint32_t digit_value(const Digit& digit, const WordSource& exponent) {
  if (digit.stride == 1) return window_value(digit.first, digit.count, exponent);
  std::uint32_t value = 0;
  MM_ROLLED
  for (std::uint32_t b = 0; b < digit.count; ++b) {
    const std::uint32_t bit = digit.first + b * digit.stride;
    value |= (exponent[bit / 32] >> (bit % 32) & 1) << b;
  }
  return value;
}

}  // namespace manymod::gpu
