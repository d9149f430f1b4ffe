// SPDX-License-Identifier: Apache-2.0
// The kernels for calls whose arrays are in device memory (facts.cuda.hpp, rows.cuda.hpp).
#include "gpu/kernels/facts.cuda.hpp"
#include "gpu/kernels/rows.cuda.hpp"

namespace {

__device__ std::uint32_t thread_of_launch() { return blockIdx.x * blockDim.x + threadIdx.x; }

}  // namespace

extern "C" __global__ void __launch_bounds__(manymod::gpu::kFactsBlock)
    mm_modulus_facts(const __grid_constant__ manymod::gpu::ModulusFactsJob job) {
  const std::uint32_t item = thread_of_launch();
  if (item < job.count) manymod::gpu::find_modulus_fact(job, item);
}

extern "C" __global__ void __launch_bounds__(manymod::gpu::kFactsBlock)
    mm_exponent_range(const __grid_constant__ manymod::gpu::ExponentRangeJob job) {
  manymod::gpu::find_exponent_range(job, thread_of_launch(), gridDim.x * blockDim.x);
}

extern "C" __global__ void __launch_bounds__(manymod::gpu::kFactsBlock)
    mm_exponent_bits(const __grid_constant__ manymod::gpu::ExponentBitsJob job) {
  const std::uint32_t item = thread_of_launch();
  if (item < job.count) manymod::gpu::find_exponent_bits(job, item);
}

extern "C" __global__ void __launch_bounds__(manymod::gpu::kRowsBlock)
    mm_copy_rows(const __grid_constant__ manymod::gpu::RowsJob job) {
  const std::uint32_t element = thread_of_launch();
  if (element < job.count) manymod::gpu::copy_limb(job, element);
}
