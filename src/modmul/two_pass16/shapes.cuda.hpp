// SPDX-License-Identifier: Apache-2.0
// Shapes of two_pass16 on CUDA devices. Columns: threads per instance; 32-bit words per thread; threads per
// block; blocks per multiprocessor, which limits the registers per thread. The number of blocks is the
// largest without register spills. Each word of a number takes 7 registers, too many for one thread beyond 24
// words; groups divide longer numbers and cover some widths from 512 to 8192 bits.
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
