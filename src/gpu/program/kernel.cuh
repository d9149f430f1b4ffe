// SPDX-License-Identifier: Apache-2.0
// The kernel of one shape of a multiplier. A technique's kernels.cu lists its shapes with MM_DEVICE_KERNEL.
#pragma once

#include "arch/cuda/block_group.cuda.hpp"
#include "arch/cuda/thread_group.cuda.hpp"
#include "gpu/program/interpreter.cuda.hpp"

namespace manymod::gpu {

extern __shared__ __align__(16) std::uint32_t shared_words[];

inline constexpr std::uint32_t kWarp = 32;

/// The next unit of work of a warp that has finished `unit`.
__device__ __forceinline__ std::uint32_t next_unit(const ProgramJob& job, std::uint32_t unit,
                                                   std::uint32_t warps) {
  if (job.claimed == nullptr) return unit + warps;
  std::uint32_t claim = 0;
  if (threadIdx.x % kWarp == 0) claim = atomicAdd(job.claimed, 1u);
  return warps + __reduce_max_sync(~0u, claim);
}

/// A unit of work is as many neighbouring items as a warp has groups. Warp w starts with unit w; the
/// remaining units go to the warp that claims them first (or are shared by a grid-stride loop, if job.claimed
/// is null), as the warps of a multiprocessor do not run equally fast. Warps must not diverge: a group beyond
/// the last item repeats that item. Unit numbers come from reductions over the warp, so that the compiler
/// knows that they are warp-uniform.
template <class Group, class Multiplier>
__device__ __forceinline__ void run_program(const ProgramJob& job) {
  constexpr std::uint32_t kItems = kWarp / Group::kSize;
  const Group group;
  const LaneMemory memory{shared_words + threadIdx.x, blockDim.x};
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t threads = gridDim.x * blockDim.x;
  const Table table{job.table, threads, thread};
  const std::uint32_t units = (job.count + kItems - 1) / kItems;
#pragma unroll 1
  for (std::uint32_t unit = __reduce_max_sync(~0u, thread / kWarp); unit < units;
       unit = next_unit(job, unit, threads / kWarp)) {
    const std::uint32_t item = unit * kItems + thread % kWarp / Group::kSize;
    const std::uint32_t own = item < job.count ? item : job.count - 1;
    Interpreter<Multiplier>(group, memory, job, table, own).run(item < job.count);
  }
}

/// For multipliers whose group is a block: blocks share the items by a grid-stride loop. All items take the
/// same time, so that blocks need not claim them (ProgramJob::claimed).
template <class Group, class Multiplier>
__device__ __forceinline__ void run_program_by_blocks(const ProgramJob& job) {
  const Group group;
  const LaneMemory memory{shared_words, 1};
  const Table table{job.table, gridDim.x * Group::kSize, blockIdx.x * Group::kSize + group.lane()};
#pragma unroll 1
  for (std::uint32_t item = blockIdx.x; item < job.count; item += gridDim.x) {
    Interpreter<Multiplier>(group, memory, job, table, item).run(true);
  }
}

}  // namespace manymod::gpu

/// Defines the kernel `name` for `Technique::Multiplier` with kThreads threads per instance and kPerThread
/// digits per thread, in blocks of up to kBlock threads, of which kBlocks are resident on a multiprocessor.
#define MM_DEVICE_KERNEL(name, Technique, kThreads, kPerThread, kBlock, kBlocks)              \
  extern "C" __global__ void __launch_bounds__(kBlock, kBlocks)                               \
      name(const __grid_constant__ manymod::gpu::ProgramJob job) {                            \
    using Group = manymod::cuda::ThreadGroup<kThreads>;                                       \
    manymod::gpu::run_program<Group, manymod::Technique::Multiplier<Group, kPerThread>>(job); \
  }

/// Defines the kernel `name` for `Technique::Multiplier` with blocks of kThreads threads, each of which
/// computes one instance; kBlocks of them are resident on a multiprocessor.
#define MM_BLOCK_KERNEL(name, Technique, kThreads, kPerThread, kBlocks)                                 \
  extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)                                       \
      name(const __grid_constant__ manymod::gpu::ProgramJob job) {                                      \
    using Group = manymod::cuda::BlockGroup<kThreads>;                                                  \
    manymod::gpu::run_program_by_blocks<Group, manymod::Technique::Multiplier<Group, kPerThread>>(job); \
  }
