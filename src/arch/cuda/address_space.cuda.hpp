// SPDX-License-Identifier: Apache-2.0
// What a called function is told of the memory that its pointers point to: without it the compiler emits
// generic loads and stores, which are slower. Nothing on the host.
#pragma once

#include "core/portable.hpp"

namespace manymod::cuda {

/// On input: p points to shared memory.
MM_DEVICE void assume_shared([[maybe_unused]] const void* p) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isShared(p));
#endif
}

/// On input: p points to local memory.
MM_DEVICE void assume_local([[maybe_unused]] const void* p) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isLocal(p));
#endif
}

}  // namespace manymod::cuda
