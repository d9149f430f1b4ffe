// SPDX-License-Identifier: Apache-2.0
// Shapes of two_pass16 on CUDA devices: threads per instance, 32-bit words per thread, threads per block,
// blocks per multiprocessor (which bounds the registers of a thread: these are the most blocks without
// spills). One thread has no registers left for the 7 words that each word of longer numbers takes; groups
// divide them, at some widths from 512 to 8192 bits.
#pragma once

#define MM_TWO_PASS16_SHAPES(SHAPE) \
  SHAPE(1, 2, 128, 8)               \
  SHAPE(1, 4, 128, 8)               \
  SHAPE(1, 6, 128, 8)               \
  SHAPE(1, 8, 128, 6)               \
  SHAPE(1, 12, 128, 4)              \
  SHAPE(1, 16, 128, 3)              \
  SHAPE(1, 24, 128, 2)              \
  SHAPE(2, 8, 128, 5)               \
  SHAPE(2, 16, 128, 3)              \
  SHAPE(4, 8, 128, 5)               \
  SHAPE(4, 16, 128, 3)              \
  SHAPE(8, 8, 128, 5)               \
  SHAPE(8, 16, 128, 3)              \
  SHAPE(16, 8, 128, 5)              \
  SHAPE(32, 8, 128, 5)
