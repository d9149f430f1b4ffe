// SPDX-License-Identifier: Apache-2.0
// The kernels of garner_job.hpp: one item per thread, its numbers in shared memory.
#include "gpu/kernels/garner_item.cuda.hpp"
#include "gpu/kernels/item_kernel.hpp"

extern __shared__ std::uint32_t shared_words[];

namespace {

__device__ manymod::LaneMemory memory_of_thread() { return {shared_words + threadIdx.x, blockDim.x}; }

}  // namespace

extern "C" __global__ void __launch_bounds__(manymod::gpu::kItemBlock)
    mm_garner_difference(const __grid_constant__ manymod::gpu::GarnerDifferenceJob job) {
  const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < job.count) manymod::gpu::compute_garner_difference(job, item, memory_of_thread());
}

extern "C" __global__ void __launch_bounds__(manymod::gpu::kItemBlock)
    mm_garner_sum(const __grid_constant__ manymod::gpu::GarnerSumJob job) {
  const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < job.count) manymod::gpu::compute_garner_sum(job, item, memory_of_thread());
}
