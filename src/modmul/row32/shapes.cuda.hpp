// SPDX-License-Identifier: Apache-2.0
// Shapes of row32 on CUDA devices. Columns: threads per instance; 32-bit words per thread; threads per block;
// blocks per multiprocessor, which limits the registers per thread.
#pragma once

#define MM_ROW32_SHAPES(SHAPE) \
  SHAPE(1, 2, 128, 8)          \
  SHAPE(1, 4, 128, 8)          \
  SHAPE(1, 6, 128, 8)          \
  SHAPE(1, 8, 128, 8)          \
  SHAPE(1, 12, 128, 5)         \
  SHAPE(1, 16, 128, 4)         \
  SHAPE(1, 24, 128, 2)         \
  SHAPE(1, 32, 128, 2)         \
  SHAPE(2, 24, 128, 2)         \
  SHAPE(2, 32, 128, 2)         \
  SHAPE(4, 8, 128, 4)          \
  SHAPE(4, 12, 128, 4)         \
  SHAPE(4, 16, 128, 3)         \
  SHAPE(4, 24, 128, 2)         \
  SHAPE(8, 12, 128, 4)         \
  SHAPE(8, 16, 128, 3)         \
  SHAPE(16, 8, 128, 4)         \
  SHAPE(16, 16, 128, 3)        \
  SHAPE(32, 2, 128, 5)         \
  SHAPE(32, 4, 128, 5)         \
  SHAPE(32, 8, 128, 4)
