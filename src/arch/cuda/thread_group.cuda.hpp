// SPDX-License-Identifier: Apache-2.0
// The threads that work on one instance: 1, 2, 4, .. 32 neighbours in a warp that never diverge.
//
// A group has kSize threads, lane() 0 to kSize - 1. Every function is called by all threads of a warp
// together. Tests replace this class with one that runs the lanes on the host
// (tests/cpp/support/lockstep.hpp).
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

#if defined(__CUDACC__)

template <unsigned kThreads>
class ThreadGroup {
  static_assert(kThreads >= 1 && kThreads <= 32 && (kThreads & (kThreads - 1)) == 0);
  static constexpr unsigned kWarp = 0xffffffffu;

 public:
  static constexpr unsigned kSize = kThreads;

  __device__ __forceinline__ unsigned lane() const { return kSize == 1 ? 0 : threadIdx.x % kSize; }

  /// `value` of the thread with lane `source` modulo kSize.
  template <class T>
  __device__ __forceinline__ T shuffle(T value, unsigned source) const {
    if constexpr (kSize == 1) return value;
    return __shfl_sync(kWarp, value, static_cast<int>(source), kSize);
  }
  /// `value` of the next lane; the last one gets lane 0's.
  template <class T>
  __device__ __forceinline__ T from_above(T value) const {
    return shuffle(value, lane() + 1);
  }
  /// `value` of the lane before; lane 0 gets the last one's.
  template <class T>
  __device__ __forceinline__ T from_below(T value) const {
    return shuffle(value, lane() + kSize - 1);
  }

  /// Bit l is set iff lane l's condition holds.
  __device__ __forceinline__ std::uint32_t ballot(bool condition) const {
    if constexpr (kSize == 1) return condition ? 1 : 0;
    const unsigned first = (threadIdx.x % 32) / kSize * kSize;
    return (__ballot_sync(kWarp, condition) >> first) & static_cast<std::uint32_t>((1ull << kSize) - 1);
  }

  /// What the group's threads wrote to memory before is seen by all of them after.
  __device__ __forceinline__ void sync() const {
    if constexpr (kSize > 1) __syncwarp();
  }
};

#else

/// The host knows its size only.
template <unsigned kThreads>
class ThreadGroup {
 public:
  static constexpr unsigned kSize = kThreads;
};

#endif

/// Carries into each lane of a number whose lanes' additions produced the carries `generate`, one bit a lane,
/// where the lanes in `propagate` would pass one on (their words are all ones). A lane never has both bits.
/// Bit l: the carry into lane l; the carry out of lane kSize - 1 is bit kSize.
MM_DEVICE std::uint64_t lane_carries(std::uint32_t generate, std::uint32_t propagate) {
  const std::uint64_t shifted = static_cast<std::uint64_t>(generate) << 1;
  return (shifted + propagate) ^ propagate;
}

}  // namespace manymod::cuda
