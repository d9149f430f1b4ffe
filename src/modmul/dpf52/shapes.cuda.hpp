// SPDX-License-Identifier: Apache-2.0
// Shapes of dpf52 on CUDA devices. Columns: threads per instance; 52-bit digits per thread; threads per
// block; blocks per multiprocessor, which limits the registers per thread. L digits serve moduli of up to 52
// L - 2 bits, rounded down to 32-bit words:
//
//   digits                        3    4    5    8   10   15   20   30   32   40   60   64   80  160
//   words                         4    6    8   12   16   24   32   48   51   64   97  103  129  259
//   common widths up to (bits)  128  192  256  384  512  768 1024 1536    -- 2048 3072    -- 4096 8192
#pragma once

#define MM_DPF52_SHAPES(SHAPE) \
  SHAPE(1, 3, 128, 8)          \
  SHAPE(1, 4, 128, 6)          \
  SHAPE(1, 5, 128, 6)          \
  SHAPE(1, 8, 128, 4)          \
  SHAPE(1, 10, 128, 3)         \
  SHAPE(1, 15, 128, 2)         \
  SHAPE(1, 20, 128, 2)         \
  SHAPE(2, 10, 128, 3)         \
  SHAPE(2, 15, 128, 2)         \
  SHAPE(2, 20, 128, 2)         \
  SHAPE(4, 5, 128, 5)          \
  SHAPE(4, 8, 128, 3)          \
  SHAPE(4, 10, 128, 4)         \
  SHAPE(4, 15, 128, 2)         \
  SHAPE(4, 20, 128, 2)         \
  SHAPE(8, 5, 128, 5)          \
  SHAPE(8, 8, 128, 3)          \
  SHAPE(8, 10, 128, 4)         \
  SHAPE(16, 5, 128, 5)         \
  SHAPE(16, 10, 128, 4)        \
  SHAPE(32, 5, 128, 5)
