// SPDX-License-Identifier: Apache-2.0
// Kernels that tell secrets, to show that check_device_secrets.py finds it, and one that does not.
#include <cstdint>

#include "modmul/device/program.hpp"

using manymod::device::ProgramJob;

// As many rounds as a word of an operand says.
extern "C" __global__ void leaks_by_branch_1x1(const __grid_constant__ ProgramJob job) {
  volatile std::uint32_t* const result = job.result;
  const std::uint32_t rounds = job.operands[0].at(threadIdx.x)[0];
#pragma unroll 1
  for (std::uint32_t i = 0; i < rounds; ++i) result[threadIdx.x] = i;
}

// An element of a table, picked by a word of an operand; in class secret too.
extern "C" __global__ void leaks_by_address_1x1(const __grid_constant__ ProgramJob job) {
  job.result[threadIdx.x] = job.table[job.operands[0].at(threadIdx.x)[0]];
}

// The same word of the table where the exponent is public, and as many times as a step says.
extern "C" __global__ void leaks_nothing_1x1(const __grid_constant__ ProgramJob job) {
  volatile std::uint32_t* const result = job.result;
  const std::uint32_t word = job.operands[0].at(threadIdx.x)[0];
  const std::uint32_t place = job.scan ? threadIdx.x : word;
#pragma unroll 1
  for (std::uint32_t i = 0; i < job.steps[0].squarings; ++i) result[threadIdx.x] = job.table[place] & word;
}
