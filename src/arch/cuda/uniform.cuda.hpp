// SPDX-License-Identifier: Apache-2.0
// Values that all threads of a warp share.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// @return `word`, which is equal in all threads of the warp. All of them call. The compiler learns that it
/// is equal, so that branches on it do not diverge, which asynchronous products of a warpgroup require.
MM_DEVICE std::uint32_t warp_uniform(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __reduce_max_sync(~0u, word);
#else
  return word;
#endif
}

}  // namespace manymod::cuda
