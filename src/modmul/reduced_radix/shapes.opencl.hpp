// SPDX-License-Identifier: Apache-2.0
// Shapes of reduced_radix for OpenCL devices. Columns: work-items per instance; digits of each.
#pragma once

#include "gpu/program/shape.hpp"

#define MM_REDUCED_RADIX_SHAPES(SHAPE) \
  SHAPE(1, 3)                          \
  SHAPE(1, 5)                          \
  SHAPE(1, 7)                          \
  SHAPE(1, 9)                          \
  SHAPE(1, 12)                         \
  SHAPE(1, 14)                         \
  SHAPE(1, 18)                         \
  SHAPE(1, 28)                         \
  SHAPE(1, 38)                         \
  SHAPE(1, 57)                         \
  SHAPE(1, 76)                         \
  SHAPE(1, 114)                        \
  SHAPE(1, 152)                        \
  SHAPE(4, 10)                         \
  SHAPE(8, 10)                         \
  SHAPE(16, 10)

namespace manymod::reduced_radix {

inline constexpr unsigned kBlock = 64;        ///< work-items of a work-group
inline constexpr unsigned kHeadroomBits = 2;  ///< moduli are below R / 2^kHeadroomBits

/// Bits of a digit of numbers with that many digits, as digits.clh chooses and proves it.
constexpr unsigned digit_bits(unsigned digits) {
  if (digits <= 32) return 29;
  return digits <= 128 ? 28 : 27;
}

constexpr gpu::Shape make_shape(const char* kernel, unsigned threads, unsigned per_thread) {
  const unsigned radix_bits = digit_bits(threads * per_thread) * threads * per_thread;
  constexpr unsigned kExchanged = 4;  // words of local memory for each digit (lanes.clh)
  return {.kernel = kernel,
          .threads = threads,
          .per_thread = per_thread,
          .block = kBlock,
          .words = (radix_bits - kHeadroomBits) / 64 * 2,
          .radix_bits = radix_bits,
          .lane_words = per_thread,
          .shared_words = threads > 1 ? kExchanged * per_thread : 0,
          .step = kBlock,
          .source = "modmul/reduced_radix/kernels"};
}

}  // namespace manymod::reduced_radix
