// SPDX-License-Identifier: Apache-2.0
// Kernels without specialisation, as technique rns_float's are named and shaped: form, threads per instance,
// channels of a base per thread, threads per block, blocks per multiprocessor. They read all constants from
// memory and serve any bases that their channels hold. For 1024 bits.
#pragma once

#define MM_RNS_FIGURE3_LOADED(SHAPE)  \
  SHAPE(half_loaded, 16, 6, 128, 3)   \
  SHAPE(full_loaded, 8, 6, 128, 3)    \
  SHAPE(smooth_loaded, 16, 3, 128, 3) \
  SHAPE(pairs_loaded, 16, 3, 128, 3)
