// SPDX-License-Identifier: Apache-2.0
#include "gpu/program/kernel.cuh"
#include "modmul/two_pass16/multiplier.cuda.hpp"
#include "modmul/two_pass16/shapes.cuda.hpp"

#define SHAPE(threads, per_thread, block, blocks) \
  MM_DEVICE_KERNEL(two_pass16_##threads##x##per_thread, two_pass16, threads, per_thread, block, blocks)
MM_TWO_PASS16_SHAPES(SHAPE)
#undef SHAPE
