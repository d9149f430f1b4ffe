// SPDX-License-Identifier: Apache-2.0
// How the blocks of a launch share its pieces (ProgramJob::pieces).
#pragma once

#include <cstdint>

#include "gpu/program/program.hpp"

namespace manymod::gpu {

/// The piece of this block, in shared memory: the next one in order. Waits until an earlier piece of the same
/// items has stored x; that piece has begun, since pieces begin in order, so that it ends. All threads of the
/// block call.
__device__ __forceinline__ const Piece& begin_piece(const ProgramJob& job) {
  __shared__ Piece piece;
  if (threadIdx.x == 0) {
    piece = {blockIdx.x, 0, job.step_count};
    if (job.pieces != nullptr) piece = job.pieces[atomicAdd(job.progress, 1u)];
    const std::uint32_t* const stored = job.progress + 1 + piece.block;
    std::uint32_t is_stored = piece.begin == 0;
    while (is_stored == 0) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(is_stored) : "l"(stored) : "memory");
    }
  }
  __syncthreads();
  return piece;
}

/// Makes what the block has stored available to the next piece of the same items, if there is one. All
/// threads of the block call.
__device__ __forceinline__ void end_piece(const ProgramJob& job, const Piece& piece) {
  if (piece.end == job.step_count) return;
  __syncthreads();
  if (threadIdx.x > 0) return;
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(job.progress + 1 + piece.block) : "memory");
}

}  // namespace manymod::gpu
