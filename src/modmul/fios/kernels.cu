// SPDX-License-Identifier: Apache-2.0
#include "gpu/program/kernel.cuh"
#include "modmul/fios/multiplier.cuda.hpp"
#include "modmul/fios/shapes.cuda.hpp"

#define SHAPE(form, threads, per_thread, block, blocks) \
  MM_DEVICE_KERNEL(fios_##form##_##threads##x##per_thread, fios::form, threads, per_thread, block, blocks)
#define FORM(form, SHAPES, summary) SHAPES(SHAPE, form)

MM_FIOS_FORMS(FORM)
