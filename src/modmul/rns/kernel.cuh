// SPDX-License-Identifier: Apache-2.0
// The kernel of one form; kernels.cu instantiates all of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/byte_products.cuda.hpp"
#include "arch/cuda/streamed_products.cuda.hpp"
#include "arch/cuda/uniform.cuda.hpp"
#include "gpu/program/kernel.cuh"
#include "gpu/program/pieces.cuh"
#include "gpu/program/program.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/interpreter.cuda.hpp"

namespace manymod::rns {

// Aligned to all banks: 16 bytes more before the matrices cost whole waves of 1024 bits 2 % of their rate.
extern __shared__ __align__(128) uint4 shared_memory[];

using gpu::kWarp;

/// Copies `bytes`, a multiple of 16, from global memory to shared memory by all threads of the block, and
/// makes them visible to tensor cores.
__device__ __forceinline__ void copy_to_shared(uint4* to, const void* from, std::size_t bytes) {
  for (std::size_t i = threadIdx.x; i < bytes / sizeof(uint4); i += blockDim.x) {
    to[i] = static_cast<const uint4*>(from)[i];
  }
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
  __syncthreads();
}

/// Whether any of the kThreads neighbouring threads that work as one team has work. All of them call;
/// kThreads is 32 or a multiple of it, up to the whole block.
template <unsigned kThreads>
__device__ __forceinline__ bool any_of_team(bool work) {
  int any = work;
  if constexpr (kThreads > kWarp) {
    asm volatile(
        "{.reg .pred work, any;\n"
        "setp.ne.s32 work, %1, 0;\n"
        "bar.red.or.pred any, %2, %3, work;\n"
        "selp.s32 %0, 1, 0, any;}"
        : "=r"(any)
        : "r"(static_cast<int>(work)), "r"(1 + threadIdx.x / kThreads), "n"(kThreads)
        : "memory");
  }
  // A vote, so that the compiler knows that the warp does not diverge.
  return __any_sync(~0u, any);
}

/// Works through the job, 16 items (a unit) for each warp at a time. A team of kThreads threads continues
/// until none of its warps has a unit left; in launches of pieces each warp has one unit.
template <Form kForm, unsigned kThreads, class Team>
__device__ __forceinline__ void run_units(const gpu::ProgramJob& job, const gpu::Piece& piece,
                                          const Team& team, std::byte* shared) {
  using Run = Interpreter<Team, kForm>;
  using Memory = SharedMemory<kForm>;
  constexpr std::uint32_t kItems = 16;
  const typename Run::Constants bases(team, shared);
  const std::uint32_t first_thread = gpu::block_of(job, piece) * blockDim.x;
  const std::uint32_t warp = cuda::warp_uniform((first_thread + threadIdx.x) / kWarp);
  const std::uint32_t warps = gridDim.x * blockDim.x / kWarp;
  auto* const records = reinterpret_cast<std::uint32_t*>(shared + Memory::kRecordsAt);
  const std::uint32_t group = cuda::warp_uniform((first_thread + threadIdx.x) / kThreads);
  const std::uint32_t units = (job.count + kItems - 1) / kItems;
#pragma unroll 1
  for (std::uint32_t unit = warp; any_of_team<kThreads>(unit < units);
       unit = gpu::next_unit(job, unit, warps)) {
    const ItemPair items{unit * kItems + threadIdx.x % kWarp / 4, job.count};
    Run(team, bases, job, warp, records, threadIdx.x / kWarp, items).run(group, piece);
  }
}

/// Runs the job by teams: single warps in compact forms, warpgroups in the others, or the whole block where
/// matrices stream through shared memory.
template <Form kForm, unsigned kBlock>
__device__ __forceinline__ void run_program(const gpu::ProgramJob& job) {
  using Memory = SharedMemory<kForm>;
  auto* const shared = reinterpret_cast<std::byte*>(shared_memory);
  copy_to_shared(shared_memory, job.constants, Memory::kConstantBytes);
  const gpu::Piece& piece = job.pieces[gpu::begin_piece(job)];
  if constexpr (Memory::kStreamed) {
    using Stream = ExtensionStream<kForm>;
    const cuda::StreamedWarpgroup<Stream, cuda::StreamLayout<Stream, kForm.ring_stages>> team(
        shared + Memory::kRingAt, static_cast<const std::byte*>(job.constants) + kForm.sizes().b_to_a());
    run_units<kForm, kBlock>(job, piece, team, shared);
    team.drain();
  } else if constexpr (kForm.compact) {
    run_units<kForm, cuda::Warp::kThreads>(job, piece, cuda::Warp{}, shared);
  } else {
    run_units<kForm, cuda::Warpgroup::kThreads>(job, piece, cuda::Warpgroup{}, shared);
  }
  gpu::end_piece(job, piece);
}

}  // namespace manymod::rns

/// Defines a kernel for blocks of at most kBlock threads; where matrices stream, of exactly kBlock.
#define MM_RNS_KERNEL(name, kForm, kBlock)                         \
  extern "C" __global__ void __launch_bounds__(kBlock, 1)          \
      name(const __grid_constant__ manymod::gpu::ProgramJob job) { \
    manymod::rns::run_program<kForm, kBlock>(job);                 \
  }
