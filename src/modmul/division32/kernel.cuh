// SPDX-License-Identifier: Apache-2.0
// The kernels of one shape of division32.
#pragma once

#include "arch/cuda/thread_group.cuda.hpp"
#include "modmul/division32/item.cuda.hpp"

extern __shared__ std::uint32_t shared_words[];

namespace manymod::division32 {

/// A group computes one item. Warps must not diverge: a group beyond the last item repeats that item.
template <unsigned kThreads, unsigned kPerThread, bool kOwn, bool kProduct>
__device__ __forceinline__ void run_item(const Job& job) {
  using Group = cuda::ThreadGroup<kThreads>;
  const std::uint32_t item = (blockIdx.x * blockDim.x + threadIdx.x) / kThreads;
  if (kThreads == 1 && item >= job.count) return;
  const std::uint32_t own = item < job.count ? item : job.count - 1;
  const LaneMemory memory{shared_words + threadIdx.x / kThreads * memory_words(kThreads * kPerThread), 1};
  const Item<Group, kPerThread, kOwn> computed(Group(), memory, job, own);
  if constexpr (kProduct) {
    computed.multiply(item < job.count);
  } else {
    computed.add_or_subtract(item < job.count);
  }
}

}  // namespace manymod::division32

#define MM_DIVISION32_KERNEL(name, kThreads, kPerThread, kBlocks, kOwn, kProduct)    \
  extern "C" __global__ void __launch_bounds__(manymod::division32::kBlock, kBlocks) \
      name(const __grid_constant__ manymod::division32::Job job) {                   \
    manymod::division32::run_item<kThreads, kPerThread, kOwn, kProduct>(job);        \
  }
