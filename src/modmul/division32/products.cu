// SPDX-License-Identifier: Apache-2.0
// The kernels of products.
#include "modmul/division32/kernel.cuh"
#include "modmul/division32/shapes.cuda.hpp"

#define SHAPE(threads, per_thread, blocks, own_blocks)                                                     \
  MM_DIVISION32_KERNEL(division32_product_##threads##x##per_thread, run_item, threads, per_thread, blocks, \
                       false, true)                                                                        \
  MM_DIVISION32_KERNEL(division32_product_own_##threads##x##per_thread, run_item, threads, per_thread,     \
                       own_blocks, true, true)
MM_DIVISION32_PRODUCTS(SHAPE)
