// SPDX-License-Identifier: Apache-2.0
// The shapes of rns_float on CUDA devices for moduli of 512, 1024 and 2048 bits, a list for each form:
// SHAPE(form, threads per instance, channels of a base per thread, threads per block, blocks per
// multiprocessor). The last one bounds the registers of a thread; it is the largest that causes no spills.
#pragma once

#define MM_RNS_FLOAT_HALF_SHAPES(SHAPE, form) \
  SHAPE(form, 8, 6, 128, 4)                   \
  SHAPE(form, 16, 6, 128, 4)                  \
  SHAPE(form, 32, 6, 128, 4)

#define MM_RNS_FLOAT_HALF_PACKED_SHAPES(SHAPE, form) \
  SHAPE(form, 8, 6, 128, 3)                          \
  SHAPE(form, 16, 6, 128, 3)                         \
  SHAPE(form, 32, 6, 128, 3)

#define MM_RNS_FLOAT_FULL_SHAPES(SHAPE, form) \
  SHAPE(form, 4, 6, 128, 4)                   \
  SHAPE(form, 8, 6, 128, 5)                   \
  SHAPE(form, 16, 6, 128, 3)

#define MM_RNS_FLOAT_SMOOTH_SHAPES(SHAPE, form) \
  SHAPE(form, 8, 3, 128, 4)                     \
  SHAPE(form, 16, 3, 128, 4)                    \
  SHAPE(form, 32, 3, 128, 4)

#define MM_RNS_FLOAT_PAIRS_SHAPES(SHAPE, form) \
  SHAPE(form, 8, 3, 128, 4)                    \
  SHAPE(form, 16, 3, 128, 4)                   \
  SHAPE(form, 32, 3, 128, 4)

/// FORM(name, the list of its shapes, a description). The paper's implementations B, C, D and E are half,
/// half_packed, smooth and pairs; its A is half without specialisation.
#define MM_RNS_FLOAT_FORMS(FORM)                                                               \
  FORM(half, MM_RNS_FLOAT_HALF_SHAPES, "moduli of half words")                                 \
  FORM(half_packed, MM_RNS_FLOAT_HALF_PACKED_SHAPES, "moduli of half words, stored in pairs")  \
  FORM(full, MM_RNS_FLOAT_FULL_SHAPES, "moduli of full words, products in two words")          \
  FORM(smooth, MM_RNS_FLOAT_SMOOTH_SHAPES, "moduli of two factors, joined after each product") \
  FORM(pairs, MM_RNS_FLOAT_PAIRS_SHAPES, "moduli of two factors, kept apart")
