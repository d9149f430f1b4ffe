// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/kernel.cuh"
#include "modmul/rns/shapes.cuda.hpp"

#define COMPACT(bits, block, at_once, shared_at_once)                                     \
  MM_RNS_KERNEL(rns_##bits##_compact, (manymod::rns::compact_form(bits, at_once)), block) \
  MM_RNS_KERNEL(rns_##bits##_compact_shared, (manymod::rns::compact_shared_form(bits, shared_at_once)), block)
MM_RNS_COMPACT_SHAPES(COMPACT)
#undef COMPACT

// Devices before compute capability 9.0 have neither asynchronous barriers nor bulk copies: no other kernel
// is for them (variants.cuda.cpp).
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define SHAPE(bits, block, at_once, shared_at_once, stages, records)                           \
  MM_RNS_KERNEL(rns_##bits, (manymod::rns::shape_form(bits, at_once, stages, records)), block) \
  MM_RNS_KERNEL(rns_##bits##_shared, (manymod::rns::shared_shape_form(bits, shared_at_once, stages)), block)
MM_RNS_SHAPES(SHAPE)
#undef SHAPE
#endif
