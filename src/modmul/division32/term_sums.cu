// SPDX-License-Identifier: Apache-2.0
// The kernels of sums of terms.
#include "modmul/division32/kernel.cuh"
#include "modmul/division32/shapes.cuda.hpp"

#define SHAPE(threads, per_thread, blocks, own_blocks)                                                       \
  MM_DIVISION32_KERNEL(division32_term_sum_##threads##x##per_thread, run_terms, threads, per_thread, blocks, \
                       false, false)                                                                         \
  MM_DIVISION32_KERNEL(division32_term_sum_own_##threads##x##per_thread, run_terms, threads, per_thread,     \
                       own_blocks, true, false)
MM_DIVISION32_SUMS(SHAPE)
