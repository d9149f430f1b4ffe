// SPDX-License-Identifier: Apache-2.0
// Kernel of residue.hpp: one item a thread, its numbers in shared memory.
#include "modmul/device/residue.hpp"
#include "modmul/device/residue_job.hpp"

namespace manymod::device {
namespace {

extern __shared__ std::uint32_t shared_words[];

__device__ void compute_residue(const ResidueJob& job, std::uint32_t item) {
  const WordSource n = job.modulus.at(item / job.per_modulus), value = job.value.at(item % job.values);
  const LaneMemory scaled{shared_words + threadIdx.x, blockDim.x};
  const LaneMemory r{scaled.first + job.words * blockDim.x, blockDim.x};
  Residue residue(n, job.words, scaled, r);
  if (value.words == nullptr) {
    residue.assign_power();
  } else {
    const std::uint32_t top = min(value.count, job.words - 2);
    residue.assign({value.words + (value.count - top), top});
    for (std::uint32_t left = value.count - top; left > 0; --left) residue.append(value[left - 1], 32);
  }
  for (std::uint32_t left = job.zero_bits; left > 0;) {
    const std::uint32_t bits = min(left, 32u);
    residue.append(0, bits);
    left -= bits;
  }
  const bool negate = job.negative != nullptr && job.negative[item % job.values] != 0;
  residue.store({job.result + static_cast<std::size_t>(item) * job.result_width, job.result_width}, n,
                negate);
}

}  // namespace
}  // namespace manymod::device

extern "C" __global__ void __launch_bounds__(manymod::device::kResidueBlock)
    mm_residue(const __grid_constant__ manymod::device::ResidueJob job) {
  const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < job.count) manymod::device::compute_residue(job, item);
}
