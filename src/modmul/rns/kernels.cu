// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/kernel.cuh"
#include "modmul/rns/shapes.cuda.hpp"

#define KERNELS(name, form, block) \
  MM_RNS_KERNEL(name, form, block) \
  MM_RNS_KERNEL(name##_shared, (manymod::rns::with_one_modulus(form)), block)

#define COMPACT(bits, block, tile_quads) \
  KERNELS(rns_##bits##_compact, (manymod::rns::compact_form(bits, tile_quads)), block)
MM_RNS_COMPACT_SHAPES(COMPACT)
#undef COMPACT

// Devices before compute capability 9.0 have neither mbarrier transactions nor bulk copies; variants.cuda.cpp
// offers only the compact kernels there.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define SHAPE(bits, block, tile_quads, one_in_flight, stages, moduli_shared)                              \
  KERNELS(rns_##bits, (manymod::rns::shape_form(bits, tile_quads, one_in_flight, stages, moduli_shared)), \
          block)
MM_RNS_SHAPES(SHAPE)
#undef SHAPE
#endif
