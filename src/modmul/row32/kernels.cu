// SPDX-License-Identifier: Apache-2.0
#include "gpu/program/kernel.cuh"
#include "modmul/row32/multiplier.cuda.hpp"
#include "modmul/row32/shapes.cuda.hpp"

#define SHAPE(threads, per_thread, block, blocks) \
  MM_DEVICE_KERNEL(row32_##threads##x##per_thread, row32, threads, per_thread, block, blocks)
MM_ROW32_SHAPES(SHAPE)
#undef SHAPE
