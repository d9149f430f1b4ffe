// SPDX-License-Identifier: Apache-2.0
// The threads of a block that work on one instance together.
//
// All threads call every function together. Tests replace this class by one that runs the threads on the host
// (tests/cpp/support/lockstep_block.hpp).
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

#if defined(__CUDACC__)

/// The block of the calling thread, of kThreads threads.
template <unsigned kThreads>
class BlockGroup {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024);

 public:
  static constexpr unsigned kSize = kThreads;

  __device__ __forceinline__ unsigned lane() const { return threadIdx.x; }

  /// `value` of the thread number lane() ^ mask. On input: mask < 32.
  template <class T>
  __device__ __forceinline__ T shuffle_xor(T value, unsigned mask) const {
    return __shfl_xor_sync(~0u, value, static_cast<int>(mask));
  }

  /// Memory writes of the block's threads before the call are visible to all of them after it.
  __device__ __forceinline__ void sync() const { __syncthreads(); }

  /// kWords words that all threads of the block share, uninitialised: the same ones in every call for kWords.
  template <unsigned kWords>
  __device__ __forceinline__ std::uint32_t* shared_words() const {
    __shared__ std::uint32_t words[kWords];
    return words;
  }
};

#else

/// On the host only the size is known; no operation exists.
template <unsigned kThreads>
class BlockGroup {
 public:
  static constexpr unsigned kSize = kThreads;
};

#endif

}  // namespace manymod::cuda
