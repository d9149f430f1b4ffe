// SPDX-License-Identifier: Apache-2.0
// Shapes of fios on CUDA devices: one list for each form, that is for each pair of a radix and a place of
// operands. Columns: form; threads per instance; 32-bit words per thread; threads per block; blocks per
// multiprocessor, which limits the registers per thread. The number of blocks is the largest without register
// spills. One thread per instance covers the paper's sizes, 160 to 384 bits, and 512 bits; groups cover some
// widths from 512 to 8192 bits. A block with operands in shared memory uses at most 32 KiB of it.
#pragma once

#define MM_FIOS_RADIX16_REGISTERS_SHAPES(SHAPE, form) \
  SHAPE(form, 1, 5, 128, 8)                           \
  SHAPE(form, 1, 6, 128, 7)                           \
  SHAPE(form, 1, 7, 128, 6)                           \
  SHAPE(form, 1, 8, 128, 6)                           \
  SHAPE(form, 1, 12, 128, 4)                          \
  SHAPE(form, 1, 16, 128, 3)                          \
  SHAPE(form, 2, 8, 128, 5)                           \
  SHAPE(form, 2, 16, 128, 2)                          \
  SHAPE(form, 4, 8, 128, 5)                           \
  SHAPE(form, 4, 16, 128, 2)                          \
  SHAPE(form, 8, 8, 128, 5)                           \
  SHAPE(form, 8, 16, 128, 2)                          \
  SHAPE(form, 16, 8, 128, 5)                          \
  SHAPE(form, 32, 8, 128, 5)

#define MM_FIOS_RADIX32_REGISTERS_SHAPES(SHAPE, form) \
  SHAPE(form, 1, 5, 128, 8)                           \
  SHAPE(form, 1, 6, 128, 8)                           \
  SHAPE(form, 1, 7, 128, 8)                           \
  SHAPE(form, 1, 8, 128, 8)                           \
  SHAPE(form, 1, 12, 128, 6)                          \
  SHAPE(form, 1, 16, 128, 5)                          \
  SHAPE(form, 2, 8, 128, 8)                           \
  SHAPE(form, 2, 16, 128, 4)                          \
  SHAPE(form, 4, 8, 128, 8)                           \
  SHAPE(form, 4, 16, 128, 4)                          \
  SHAPE(form, 8, 8, 128, 8)                           \
  SHAPE(form, 8, 16, 128, 4)                          \
  SHAPE(form, 16, 8, 128, 8)                          \
  SHAPE(form, 32, 8, 128, 8)

#define MM_FIOS_RADIX16_SHARED_SHAPES(SHAPE, form) \
  SHAPE(form, 1, 5, 64, 10)                        \
  SHAPE(form, 1, 6, 64, 10)                        \
  SHAPE(form, 1, 7, 64, 10)                        \
  SHAPE(form, 1, 8, 64, 9)                         \
  SHAPE(form, 1, 12, 64, 8)                        \
  SHAPE(form, 1, 16, 64, 6)                        \
  SHAPE(form, 2, 8, 64, 8)                         \
  SHAPE(form, 2, 16, 64, 4)                        \
  SHAPE(form, 4, 8, 64, 8)                         \
  SHAPE(form, 4, 16, 64, 4)                        \
  SHAPE(form, 8, 8, 64, 8)                         \
  SHAPE(form, 8, 16, 64, 4)                        \
  SHAPE(form, 16, 8, 64, 8)                        \
  SHAPE(form, 32, 8, 64, 8)

#define MM_FIOS_RADIX32_SHARED_SHAPES(SHAPE, form) \
  SHAPE(form, 1, 5, 64, 12)                        \
  SHAPE(form, 1, 6, 64, 12)                        \
  SHAPE(form, 1, 7, 64, 10)                        \
  SHAPE(form, 1, 8, 64, 10)                        \
  SHAPE(form, 1, 12, 64, 8)                        \
  SHAPE(form, 1, 16, 64, 8)                        \
  SHAPE(form, 2, 8, 64, 12)                        \
  SHAPE(form, 2, 16, 64, 8)                        \
  SHAPE(form, 4, 8, 64, 12)                        \
  SHAPE(form, 4, 16, 64, 8)                        \
  SHAPE(form, 8, 8, 64, 12)                        \
  SHAPE(form, 8, 16, 64, 8)                        \
  SHAPE(form, 16, 8, 64, 12)                       \
  SHAPE(form, 32, 8, 64, 12)

#define MM_FIOS_LOCAL_SHAPES(SHAPE, form) \
  SHAPE(form, 1, 5, 128, 8)               \
  SHAPE(form, 1, 6, 128, 8)               \
  SHAPE(form, 1, 7, 128, 8)               \
  SHAPE(form, 1, 8, 128, 8)               \
  SHAPE(form, 1, 12, 128, 6)              \
  SHAPE(form, 1, 16, 128, 6)

#define MM_FIOS_RADIX16_LOCAL_SHAPES(SHAPE, form) MM_FIOS_LOCAL_SHAPES(SHAPE, form)
#define MM_FIOS_RADIX32_LOCAL_SHAPES(SHAPE, form) MM_FIOS_LOCAL_SHAPES(SHAPE, form)

/// FORM(name, list of its shapes, description)
#define MM_FIOS_FORMS(FORM)                                                                      \
  FORM(radix16_registers, MM_FIOS_RADIX16_REGISTERS_SHAPES, "radix 2^16, operands in registers") \
  FORM(radix16_shared, MM_FIOS_RADIX16_SHARED_SHAPES, "radix 2^16, operands in shared memory")   \
  FORM(radix16_local, MM_FIOS_RADIX16_LOCAL_SHAPES, "radix 2^16, operands in local memory")      \
  FORM(radix32_registers, MM_FIOS_RADIX32_REGISTERS_SHAPES, "radix 2^32, operands in registers") \
  FORM(radix32_shared, MM_FIOS_RADIX32_SHARED_SHAPES, "radix 2^32, operands in shared memory")   \
  FORM(radix32_local, MM_FIOS_RADIX32_LOCAL_SHAPES, "radix 2^32, operands in local memory")
