// SPDX-License-Identifier: Apache-2.0
// Kernels of garner_item.hpp: one item a thread, its numbers in shared memory.
#include "modmul/device/garner_item.hpp"
#include "modmul/device/item_kernel.hpp"

extern __shared__ std::uint32_t shared_words[];

namespace {

__device__ manymod::device::LaneMemory memory_of_thread() { return {shared_words + threadIdx.x, blockDim.x}; }

}  // namespace

extern "C" __global__ void __launch_bounds__(manymod::device::kItemBlock)
    mm_garner_difference(const __grid_constant__ manymod::device::GarnerDifferenceJob job) {
  const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < job.count) manymod::device::compute_garner_difference(job, item, memory_of_thread());
}

extern "C" __global__ void __launch_bounds__(manymod::device::kItemBlock)
    mm_garner_sum(const __grid_constant__ manymod::device::GarnerSumJob job) {
  const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < job.count) manymod::device::compute_garner_sum(job, item, memory_of_thread());
}
