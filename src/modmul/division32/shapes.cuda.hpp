// SPDX-License-Identifier: Apache-2.0
// Shapes of division32's kernels on CUDA devices. Columns: threads per item; 32-bit words per thread; blocks
// of kBlock threads per multiprocessor, which limits the registers per thread, with a shared and with own
// moduli.
#pragma once

#define MM_DIVISION32_PRODUCTS(SHAPE) \
  SHAPE(1, 4, 12, 12)                 \
  SHAPE(1, 8, 10, 8)                  \
  SHAPE(1, 12, 7, 5)                  \
  SHAPE(1, 16, 4, 4)                  \
  SHAPE(2, 12, 5, 4)                  \
  SHAPE(2, 16, 4, 4)                  \
  SHAPE(4, 12, 5, 4)                  \
  SHAPE(4, 16, 4, 4)                  \
  SHAPE(8, 12, 5, 4)                  \
  SHAPE(8, 16, 4, 4)

// Dot products keep two sums of W words beside the product's, own moduli need their registers afterwards
// only.
#define MM_DIVISION32_TERM_PRODUCTS(SHAPE) \
  SHAPE(1, 4, 12, 10)                      \
  SHAPE(1, 8, 8, 6)                        \
  SHAPE(2, 8, 8, 6)                        \
  SHAPE(2, 16, 4, 3)                       \
  SHAPE(4, 16, 4, 3)                       \
  SHAPE(8, 16, 4, 3)

#define MM_DIVISION32_SUMS(SHAPE) \
  SHAPE(1, 4, 12, 12)             \
  SHAPE(1, 8, 8, 8)               \
  SHAPE(2, 8, 8, 7)               \
  SHAPE(4, 8, 8, 7)               \
  SHAPE(8, 8, 8, 7)               \
  SHAPE(16, 8, 8, 7)
