// SPDX-License-Identifier: Apache-2.0
// The kernel of residue_job.hpp: one item per thread, its numbers in shared memory.
#include "gpu/kernels/item_kernel.hpp"
#include "gpu/kernels/residue_item.cuda.hpp"

extern __shared__ std::uint32_t shared_words[];

extern "C" __global__ void __launch_bounds__(manymod::gpu::kItemBlock)
    mm_residue(const __grid_constant__ manymod::gpu::ResidueJob job) {
  const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < job.count) {
    manymod::gpu::compute_residue(job, item, {shared_words + threadIdx.x, blockDim.x});
  }
}
