// SPDX-License-Identifier: Apache-2.0
// Counters that threads of a kernel share.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// counter += value, by one thread at a time. @return what it was.
MM_DEVICE std::uint32_t fetch_add(std::uint32_t& counter, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(&counter, value);
#else
  return __atomic_fetch_add(&counter, value, __ATOMIC_RELAXED);
#endif
}

}  // namespace manymod::cuda
