// SPDX-License-Identifier: Apache-2.0
// The kernels of one shape of division32.
#pragma once

#include "arch/cuda/thread_group.cuda.hpp"
#include "modmul/division32/item.cuda.hpp"
#include "modmul/division32/term_item.cuda.hpp"

extern __shared__ std::uint32_t shared_words[];

namespace manymod::division32 {

/// Calls compute(group, memory, result, stores) for the result of this thread's group. Warps must not
/// diverge: a group beyond the last result repeats that one, and does not store it.
template <unsigned kThreads, unsigned kPerThread, class Compute>
__device__ __forceinline__ void run_group(const Job& job, const Compute& compute) {
  const std::uint32_t result = (blockIdx.x * blockDim.x + threadIdx.x) / kThreads;
  if (kThreads == 1 && result >= job.count) return;
  const LaneMemory memory{shared_words + threadIdx.x / kThreads * memory_words(kThreads * kPerThread), 1};
  compute(cuda::ThreadGroup<kThreads>(), memory, result < job.count ? result : job.count - 1,
          result < job.count);
}

/// A group computes one item.
template <unsigned kThreads, unsigned kPerThread, bool kOwn, bool kProduct>
__device__ __forceinline__ void run_item(const Job& job) {
  run_group<kThreads, kPerThread>(
      job, [&](const auto& group, LaneMemory memory, std::uint32_t item, bool stores) {
        const Item<cuda::ThreadGroup<kThreads>, kPerThread, kOwn> computed(group, memory, job, item);
        if constexpr (kProduct) {
          computed.multiply(stores);
        } else {
          computed.add_or_subtract(stores);
        }
      });
}

/// A group computes the terms of one item, or a part of them.
template <unsigned kThreads, unsigned kPerThread, bool kOwn, bool kProduct>
__device__ __forceinline__ void run_terms(const Job& job) {
  run_group<kThreads, kPerThread>(
      job, [&](const auto& group, LaneMemory memory, std::uint32_t result, bool stores) {
        const TermItem<cuda::ThreadGroup<kThreads>, kPerThread, kOwn> computed(group, memory, job, result);
        if constexpr (kProduct) {
          computed.multiply(stores);
        } else {
          computed.add(stores);
        }
      });
}

}  // namespace manymod::division32

#define MM_DIVISION32_KERNEL(name, run, kThreads, kPerThread, kBlocks, kOwn, kProduct) \
  extern "C" __global__ void __launch_bounds__(manymod::division32::kBlock, kBlocks)   \
      name(const __grid_constant__ manymod::division32::Job job) {                     \
    manymod::division32::run<kThreads, kPerThread, kOwn, kProduct>(job);               \
  }
