// SPDX-License-Identifier: Apache-2.0
// Values that a compiler knows nothing of, so that it makes no branch of what is computed with them.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// `word`. Of a mask that is 0 or all ones, nvcc would know that what it masks is needed in one case only,
/// and load it in that case only.
MM_DEVICE std::uint32_t opaque(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  asm("" : "+r"(word));
#endif
  return word;
}

}  // namespace manymod::cuda
