// SPDX-License-Identifier: Apache-2.0
// Shapes of fios on CUDA devices, a list for each radix and place: threads per instance, 32-bit words per
// thread, threads per block, blocks per multiprocessor (which bounds the registers of a thread: these are the
// most blocks without spills). The paper's sizes, 160 to 384 bits, and 512. Blocks with operands in shared
// memory need no more than 32 KiB of it.
#pragma once

#define MM_FIOS_RADIX16_REGISTERS_SHAPES(SHAPE) \
  SHAPE(1, 5, 128, 8)                           \
  SHAPE(1, 6, 128, 7)                           \
  SHAPE(1, 7, 128, 6)                           \
  SHAPE(1, 8, 128, 6)                           \
  SHAPE(1, 12, 128, 4)                          \
  SHAPE(1, 16, 128, 3)

#define MM_FIOS_RADIX32_REGISTERS_SHAPES(SHAPE) \
  SHAPE(1, 5, 128, 8)                           \
  SHAPE(1, 6, 128, 8)                           \
  SHAPE(1, 7, 128, 8)                           \
  SHAPE(1, 8, 128, 8)                           \
  SHAPE(1, 12, 128, 6)                          \
  SHAPE(1, 16, 128, 5)

#define MM_FIOS_RADIX16_SHARED_SHAPES(SHAPE) \
  SHAPE(1, 5, 64, 10)                        \
  SHAPE(1, 6, 64, 10)                        \
  SHAPE(1, 7, 64, 10)                        \
  SHAPE(1, 8, 64, 9)                         \
  SHAPE(1, 12, 64, 8)                        \
  SHAPE(1, 16, 64, 6)

#define MM_FIOS_RADIX32_SHARED_SHAPES(SHAPE) \
  SHAPE(1, 5, 64, 12)                        \
  SHAPE(1, 6, 64, 12)                        \
  SHAPE(1, 7, 64, 10)                        \
  SHAPE(1, 8, 64, 10)                        \
  SHAPE(1, 12, 64, 8)                        \
  SHAPE(1, 16, 64, 8)

#define MM_FIOS_LOCAL_SHAPES(SHAPE) \
  SHAPE(1, 5, 128, 8)               \
  SHAPE(1, 6, 128, 8)               \
  SHAPE(1, 7, 128, 8)               \
  SHAPE(1, 8, 128, 8)               \
  SHAPE(1, 12, 128, 6)              \
  SHAPE(1, 16, 128, 6)

#define MM_FIOS_RADIX16_LOCAL_SHAPES(SHAPE) MM_FIOS_LOCAL_SHAPES(SHAPE)
#define MM_FIOS_RADIX32_LOCAL_SHAPES(SHAPE) MM_FIOS_LOCAL_SHAPES(SHAPE)
