// SPDX-License-Identifier: Apache-2.0
// Shapes of dpf52 for OpenCL devices. Columns: work-items per instance; 52-bit digits of each. L digits serve
// moduli of up to 52 L - 2 bits, rounded down to 64-bit words.
#pragma once

#include "gpu/program/shape.hpp"
#include "modmul/dpf52/bounds.hpp"

#define MM_DPF52_OPENCL_SHAPES(SHAPE) \
  SHAPE(1, 3)                         \
  SHAPE(1, 4)                         \
  SHAPE(1, 5)                         \
  SHAPE(1, 8)                         \
  SHAPE(1, 10)                        \
  SHAPE(1, 15)                        \
  SHAPE(1, 20)                        \
  SHAPE(1, 30)                        \
  SHAPE(1, 40)                        \
  SHAPE(1, 60)                        \
  SHAPE(1, 80)                        \
  SHAPE(2, 5)                         \
  SHAPE(2, 10)                        \
  SHAPE(4, 5)                         \
  SHAPE(4, 10)                        \
  SHAPE(8, 5)                         \
  SHAPE(8, 10)                        \
  SHAPE(16, 5)

namespace manymod::dpf52 {

inline constexpr unsigned kOpenclBlock = 64;        ///< work-items of a work-group
inline constexpr unsigned kOpenclHeadroomBits = 2;  ///< moduli are below R / 2^kOpenclHeadroomBits

constexpr gpu::Shape make_opencl_shape(const char* kernel, unsigned threads, unsigned per_thread) {
  const unsigned radix_bits = kDigitBits * threads * per_thread;
  constexpr unsigned kInRegisters = 8, kWithOneOperandInMemory = 20;  // forms.clh
  constexpr unsigned kExchanged = 6;                                  // words for each digit (lanes.clh)
  const bool one_in_memory = per_thread > kInRegisters && per_thread <= kWithOneOperandInMemory;
  return {.kernel = kernel,
          .threads = threads,
          .per_thread = per_thread,
          .block = kOpenclBlock,
          .words = (radix_bits - kOpenclHeadroomBits) / 64 * 2,
          .radix_bits = radix_bits,
          .lane_words = 2 * per_thread,
          .shared_words = threads > 1 ? kExchanged * per_thread : (one_in_memory ? 2 * per_thread : 0),
          .step = kOpenclBlock,
          .source = "modmul/dpf52/kernels"};
}

}  // namespace manymod::dpf52
