// SPDX-License-Identifier: Apache-2.0
#include "gpu/program/kernel.cuh"
#include "modmul/rns_float/multiplier.cuda.hpp"
#include "modmul/rns_float/shapes.cuda.hpp"

#define SHAPE(form, threads, per_thread, block, blocks)                                                      \
  MM_DEVICE_KERNEL(rns_float_##form##_##threads##x##per_thread, rns_float::form, threads, per_thread, block, \
                   blocks)
#define FORM(form, SHAPES, summary) SHAPES(SHAPE, form)

MM_RNS_FLOAT_FORMS(FORM)
