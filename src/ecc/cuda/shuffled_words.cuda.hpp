// SPDX-License-Identifier: Apache-2.0
// Look-ups in windows of 64 entries whose time does not depend on the entry.
#pragma once

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "core/portable.hpp"
#include "ecc/cuda/jobs.cuda.hpp"

namespace manymod::ecc::cuda {

inline constexpr unsigned kBaseEntries = 1u << (kBaseWindow - 1);

/// Word `index` of 64, of which each thread of a warp holds two: a shuffle takes the same time from any lane.
/// All threads of a warp together. On the host, the array itself.
MM_DEVICE std::uint32_t shuffled_word(const std::uint32_t* words, unsigned index) {
  static_assert(kBaseEntries == 64);
#if defined(__CUDA_ARCH__)
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t low = words[lane], high = words[lane + 32];
  const std::uint32_t from_low = __shfl_sync(0xffffffffu, low, static_cast<int>(index % 32));
  const std::uint32_t from_high = __shfl_sync(0xffffffffu, high, static_cast<int>(index % 32));
  const std::uint32_t upper = manymod::cuda::opaque(0 - (index / 32));
  return (from_high & upper) | (from_low & ~upper);
#else
  return words[index];
#endif
}

}  // namespace manymod::ecc::cuda
