// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/kernel.cuh"
#include "modmul/rns/shapes.cuda.hpp"

// Devices before compute capability 9.0 have neither asynchronous barriers nor bulk copies: no kernel is for
// them (variants.cuda.cpp).
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define SHAPE(bits, block, at_once, shared_at_once, stages, records)                           \
  MM_RNS_KERNEL(rns_##bits, (manymod::rns::shape_form(bits, at_once, stages, records)), block) \
  MM_RNS_KERNEL(rns_##bits##_shared, (manymod::rns::shared_shape_form(bits, shared_at_once, stages)), block)
MM_RNS_SHAPES(SHAPE)
#undef SHAPE
#endif
