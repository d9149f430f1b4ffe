// SPDX-License-Identifier: Apache-2.0
// Kernel of residue_item.hpp: one item a thread, its numbers in shared memory.
#include "modmul/device/item_kernel.hpp"
#include "modmul/device/residue_item.hpp"

extern __shared__ std::uint32_t shared_words[];

extern "C" __global__ void __launch_bounds__(manymod::device::kItemBlock)
    mm_residue(const __grid_constant__ manymod::device::ResidueJob job) {
  const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < job.count) {
    manymod::device::compute_residue(job, item, {shared_words + threadIdx.x, blockDim.x});
  }
}
