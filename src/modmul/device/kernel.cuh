// SPDX-License-Identifier: Apache-2.0
// The kernel of one multiplier shape. A technique's kernels.cu lists its shapes with MM_DEVICE_KERNEL.
#pragma once

#include "arch/cuda/thread_group.hpp"
#include "modmul/device/interpreter.hpp"

namespace manymod::device {

extern __shared__ std::uint32_t shared_words[];

/// Items are handed out to the launch's groups in turn. The grid's threads all run the same number of rounds,
/// as warps must not diverge: a group without an item of its own repeats the last one.
template <class Group, class Multiplier>
__device__ __forceinline__ void run_program(const ProgramJob& job) {
  const Group group;
  const LaneMemory memory{shared_words + threadIdx.x, blockDim.x};
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t threads = gridDim.x * blockDim.x;
  const std::uint32_t groups = threads / Group::kSize;
  const Table table{job.table, threads, thread};
#pragma unroll 1
  for (std::uint32_t first = 0; first < job.count; first += groups) {
    const std::uint32_t item = first + thread / Group::kSize;
    const std::uint32_t own = item < job.count ? item : job.count - 1;
    Interpreter<Multiplier>(group, memory, job, table, own).run(item < job.count);
  }
}

}  // namespace manymod::device

/// A kernel `name` for `Technique::Multiplier` with kThreads threads per instance and kPerThread digits per
/// thread, in blocks of up to kBlock threads of which kBlocks run on a multiprocessor at a time.
#define MM_DEVICE_KERNEL(name, Technique, kThreads, kPerThread, kBlock, kBlocks)                 \
  extern "C" __global__ void __launch_bounds__(kBlock, kBlocks)                                  \
      name(const __grid_constant__ manymod::device::ProgramJob job) {                            \
    using Group = manymod::cuda::ThreadGroup<kThreads>;                                          \
    manymod::device::run_program<Group, manymod::Technique::Multiplier<Group, kPerThread>>(job); \
  }
