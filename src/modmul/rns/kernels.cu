// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/kernel.cuh"
#include "modmul/rns/shapes.cuda.hpp"

#define KERNELS(name, form, block) \
  MM_RNS_KERNEL(name, form, block) \
  MM_RNS_KERNEL(name##_shared, (manymod::rns::with_one_modulus(form)), block)

#define COMPACT(bits, block, at_once) \
  KERNELS(rns_##bits##_compact, (manymod::rns::compact_form(bits, at_once)), block)
MM_RNS_COMPACT_SHAPES(COMPACT)
#undef COMPACT

// Devices before compute capability 9.0 have neither asynchronous barriers nor bulk copies: no other kernel
// is for them (variants.cuda.cpp).
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define SHAPE(bits, block, at_once, in_turn, stages, records) \
  KERNELS(rns_##bits, (manymod::rns::shape_form(bits, at_once, in_turn, stages, records)), block)
MM_RNS_SHAPES(SHAPE)
#undef SHAPE
#endif
