// SPDX-License-Identifier: Apache-2.0
// The shapes of cox_rower on CUDA devices: SHAPE(threads per instance, bits, blocks per multiprocessor). A
// block works on one instance. The widths are those of kBases (bases.hpp).
#pragma once

#define MM_COX_ROWER_SHAPES(SHAPE) \
  SHAPE(64, 512, 8)                \
  SHAPE(96, 1024, 6)               \
  SHAPE(128, 1536, 4)              \
  SHAPE(288, 2048, 2)              \
  SHAPE(224, 3072, 1)              \
  SHAPE(608, 4096, 1)
