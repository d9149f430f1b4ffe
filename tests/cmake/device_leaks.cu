// SPDX-License-Identifier: Apache-2.0
// Kernels that leak secrets, to show that check_device_secrets.py reports them, and one that leaks none.
#include <cstddef>
#include <cstdint>

#include "arch/cuda/byte_products.cuda.hpp"
#include "arch/cuda/streamed_products.cuda.hpp"
#include "gpu/program/program.hpp"

using manymod::gpu::ProgramJob;

extern __shared__ uint4 shared_memory[];

// The number of rounds is a word of an operand.
extern "C" __global__ void leaks_by_branch_1x1(const __grid_constant__ ProgramJob job) {
  volatile std::uint32_t* const result = job.result;
  const std::uint32_t rounds = job.operands[0].at(threadIdx.x)[0];
#pragma unroll 1
  for (std::uint32_t i = 0; i < rounds; ++i) result[threadIdx.x] = i;
}

// Reads an element of a table at an index that is a word of an operand, in constant-time calls too.
extern "C" __global__ void leaks_by_address_1x1(const __grid_constant__ ProgramJob job) {
  job.result[threadIdx.x] = job.table[job.operands[0].at(threadIdx.x)[0]];
}

// The number of rounds is a product of the bytes of a word of an operand.
extern "C" __global__ void leaks_by_product_1x1(const __grid_constant__ ProgramJob job) {
  volatile std::uint32_t* const result = job.result;
  const std::uint32_t word = job.operands[0].at(threadIdx.x)[0];
  std::int32_t sums[4] = {};
  manymod::cuda::multiply_octet(sums, word, word, word, word, 1, 1);
#pragma unroll 1
  for (std::int32_t i = 0; i < sums[0]; ++i) result[threadIdx.x] = static_cast<std::uint32_t>(i);
}

// The same with the secret in the matrix, which is in shared memory.
extern "C" __global__ void leaks_by_matrix_1x1(const __grid_constant__ ProgramJob job) {
  volatile std::uint32_t* const result = job.result;
  auto* const words = reinterpret_cast<std::uint32_t*>(shared_memory);
  words[threadIdx.x] = job.operands[0].at(threadIdx.x)[0];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const manymod::cuda::Warpgroup warps;
  const manymod::cuda::ByteRows<1> rows{{{1, 1}, {1, 1}}};
  manymod::cuda::ByteSums<1> sums;
  warps.start(sums, rows, {reinterpret_cast<const std::byte*>(shared_memory), 1}, 0);
  warps.wait<0>(0);
#pragma unroll 1
  for (std::uint32_t i = 0; i < sums.at(0, 0, 0); ++i) result[threadIdx.x] = i;
}

// Branches on whether any thread of the block has an odd word of an operand.
extern "C" __global__ void leaks_by_meeting_1x1(const __grid_constant__ ProgramJob job) {
  const std::uint32_t word = job.operands[0].at(threadIdx.x)[0];
  if (__syncthreads_or(static_cast<int>(word & 1)) != 0) job.result[threadIdx.x] = word;
}

// Shuffles from a lane that is a word of an operand; all threads read the same lane if their words are equal.
extern "C" __global__ void leaks_by_lane_1x1(const __grid_constant__ ProgramJob job) {
  const std::uint32_t word = job.operands[0].at(threadIdx.x)[0];
  job.result[threadIdx.x] = manymod::cuda::Warpgroup().shuffle(word, word % 32);
}

// Waits for a number of bytes that is a word of an operand.
extern "C" __global__ void leaks_by_waiting_1x1(const __grid_constant__ ProgramJob job) {
  const manymod::cuda::Barrier arrived(reinterpret_cast<const std::uint64_t*>(shared_memory));
  arrived.init(1);
  arrived.arrive_and_expect(job.operands[0].at(threadIdx.x)[0]);
  arrived.wait(0);
}

// Reads the table at a secret index only if the exponent is public, a number of times that a step gives, and
// branches on numbers that threads have claimed.
extern "C" __global__ void leaks_nothing_1x1(const __grid_constant__ ProgramJob job) {
  volatile std::uint32_t* const result = job.result;
  const std::uint32_t word = job.operands[0].at(threadIdx.x)[0];
  const std::uint32_t place = job.scan ? threadIdx.x : word;
#pragma unroll 1
  for (std::uint32_t i = 0; i < job.steps[0].squarings; ++i) result[threadIdx.x] = job.table[place] & word;
  const unsigned claim = atomicAdd(job.claimed, 1u);
  if (__syncthreads_or(static_cast<int>(claim & 1)) != 0) result[threadIdx.x] = word;
}
