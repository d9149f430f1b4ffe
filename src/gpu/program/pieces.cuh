// SPDX-License-Identifier: Apache-2.0
// How the blocks of a launch share its pieces (ProgramJob::pieces).
#pragma once

#include <cstdint>

#include "arch/cuda/uniform.cuda.hpp"
#include "gpu/program/program.hpp"

namespace manymod::gpu {

/// The place that tells whether an earlier piece of the items of `block` has stored x.
__device__ __forceinline__ std::uint32_t* stored_flag(const ProgramJob& job, std::uint32_t block) {
  return job.progress + 1 + gridDim.x + block;
}

/// The number of the piece of this block: with turns the next one in order. Waits until an earlier piece of
/// the same items has stored x; that piece has begun, since pieces begin in order, so that it ends. All
/// threads of the block call. The number goes through global memory: shared memory holds secrets, so that the
/// check of the machine code takes all that is read from it for secret.
__device__ __forceinline__ std::uint32_t begin_piece(const ProgramJob& job) {
  if (!job.turns) return 0;
  std::uint32_t* const taken = job.progress + 1 + blockIdx.x;
  if (threadIdx.x == 0) {
    const std::uint32_t number = atomicAdd(job.progress, 1u);
    *taken = number;
    const Piece& next = job.pieces[number];
    std::uint32_t is_stored = next.begin == 0;
    while (is_stored == 0) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(is_stored)
                   : "l"(stored_flag(job, next.block))
                   : "memory");
    }
  }
  __syncthreads();
  return cuda::warp_uniform(*taken);
}

/// The block of items that the piece is for.
__device__ __forceinline__ std::uint32_t block_of(const ProgramJob& job, const Piece& piece) {
  return piece.block + (job.turns ? 0 : blockIdx.x);
}

/// Makes what the block has stored available to the next piece of the same items, if there is one. All
/// threads of the block call.
__device__ __forceinline__ void end_piece(const ProgramJob& job, const Piece& piece) {
  if (!job.turns || piece.end == job.step_count) return;
  __syncthreads();
  if (threadIdx.x > 0) return;
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(stored_flag(job, piece.block)) : "memory");
}

}  // namespace manymod::gpu
