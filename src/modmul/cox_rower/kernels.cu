// SPDX-License-Identifier: Apache-2.0
#include "gpu/program/kernel.cuh"
#include "modmul/cox_rower/multiplier.cuda.hpp"
#include "modmul/cox_rower/shapes.cuda.hpp"

#define SHAPE(threads, bits, blocks) MM_BLOCK_KERNEL(cox_rower_##bits, cox_rower, threads, bits, blocks)
MM_COX_ROWER_SHAPES(SHAPE)
