// SPDX-License-Identifier: Apache-2.0
// Shapes of two_pass16 on CUDA devices: threads per instance, 32-bit words per thread, threads per block,
// blocks per multiprocessor (which bounds the registers of a thread: these are the most blocks without
// spills). Longer numbers have no registers left for the 7 words that each of their words takes.
#pragma once

#define MM_TWO_PASS16_SHAPES(SHAPE) \
  SHAPE(1, 2, 128, 8)               \
  SHAPE(1, 4, 128, 8)               \
  SHAPE(1, 6, 128, 8)               \
  SHAPE(1, 8, 128, 6)               \
  SHAPE(1, 12, 128, 4)              \
  SHAPE(1, 16, 128, 3)              \
  SHAPE(1, 24, 128, 2)
