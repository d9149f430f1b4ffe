// SPDX-License-Identifier: Apache-2.0
// The threads that work on one instance: 1, 2, 4, .. 32 neighbouring lanes of a warp, which never diverge.
//
// A group has kSize threads; lane() is 0 .. kSize - 1. All threads of a warp call every function together.
// Tests replace this class by one that runs the lanes on the host (tests/cpp/support/lockstep.hpp).
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

#if defined(__CUDACC__)

/// The group of the calling thread.
template <unsigned kThreads>
class ThreadGroup {
  static_assert(kThreads >= 1 && kThreads <= 32 && (kThreads & (kThreads - 1)) == 0);
  static constexpr unsigned kWarp = 0xffffffffu;

 public:
  static constexpr unsigned kSize = kThreads;

  __device__ __forceinline__ unsigned lane() const { return kSize == 1 ? 0 : threadIdx.x % kSize; }

  /// `value` of the lane `source` mod kSize.
  template <class T>
  __device__ __forceinline__ T shuffle(T value, unsigned source) const {
    if constexpr (kSize == 1) return value;
    return __shfl_sync(kWarp, value, static_cast<int>(source), kSize);
  }
  /// `value` of the next lane; the last lane gets lane 0's.
  template <class T>
  __device__ __forceinline__ T from_above(T value) const {
    return shuffle(value, lane() + 1);
  }
  /// `value` of the previous lane; lane 0 gets the last lane's.
  template <class T>
  __device__ __forceinline__ T from_below(T value) const {
    return shuffle(value, lane() + kSize - 1);
  }

  /// Bit l of the result is 1 iff the condition holds in lane l.
  __device__ __forceinline__ std::uint32_t ballot(bool condition) const {
    if constexpr (kSize == 1) return condition ? 1 : 0;
    const unsigned first = (threadIdx.x % 32) / kSize * kSize;
    return (__ballot_sync(kWarp, condition) >> first) & static_cast<std::uint32_t>((1ull << kSize) - 1);
  }

  /// Whether the condition holds in any thread that must call together with this one: any of the warp, or
  /// this thread alone in a group of one.
  __device__ __forceinline__ bool any_in_warp(bool condition) const {
    if constexpr (kSize == 1) return condition;
    return __any_sync(kWarp, condition) != 0;
  }

  /// Memory writes of the group's threads before the call are visible to all of them after it.
  __device__ __forceinline__ void sync() const {
    if constexpr (kSize > 1) __syncwarp();
  }
};

#else

/// On the host only the size is known; no operation exists.
template <unsigned kThreads>
class ThreadGroup {
 public:
  static constexpr unsigned kSize = kThreads;
};

#endif

/// The carries into each lane of a number that is spread over lanes, as by carry look-ahead. On input: bit l
/// of `generate` is 1 if the additions in lane l produced a carry, bit l of `propagate` if an incoming carry
/// would pass through lane l (its words are all ones); no lane has both. On output: bit l is the carry into
/// lane l, and bit kSize the carry out of the last lane.
MM_DEVICE std::uint64_t lane_carries(std::uint32_t generate, std::uint32_t propagate) {
  const std::uint64_t shifted = static_cast<std::uint64_t>(generate) << 1;
  return (shifted + propagate) ^ propagate;
}

}  // namespace manymod::cuda
