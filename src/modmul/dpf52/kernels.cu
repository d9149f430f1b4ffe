// SPDX-License-Identifier: Apache-2.0
#include "gpu/program/kernel.cuh"
#include "modmul/dpf52/multiplier.cuda.hpp"
#include "modmul/dpf52/shapes.cuda.hpp"

#define SHAPE(threads, per_thread, block, blocks) \
  MM_DEVICE_KERNEL(dpf52_##threads##x##per_thread, dpf52, threads, per_thread, block, blocks)
MM_DPF52_SHAPES(SHAPE)
#undef SHAPE
