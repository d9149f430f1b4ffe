// SPDX-License-Identifier: Apache-2.0
#include "rsa/ring_devices.hpp"

#include <algorithm>
#include <array>

#include "dispatch/devices.hpp"
#include "modmul/cios32/variants.opencl.hpp"
#include "modmul/row32/variants.cuda.hpp"

namespace manymod::rsa {
namespace {

// Threads that encode and decode the blocks of a call have one each while the GPU computes.
constexpr std::size_t kWorkspacesOfRing = 16;

// Programs of products need a technique with R = 2^(64 limbs).
const gpu::Technique& technique_of(Backend backend) {
  return backend == Backend::opencl ? cios32::opencl_techniques().front() : row32::cuda_techniques().front();
}

}  // namespace

bool RingDevices::holds(std::size_t limbs) {
  return std::ranges::all_of(std::array{Backend::cuda, Backend::opencl}, [limbs](Backend backend) {
    return std::ranges::any_of(technique_of(backend).shapes,
                               [limbs](const gpu::Shape& shape) { return shape.words >= 2 * limbs; });
  });
}

const gpu::ProgramRunner& RingDevices::products(const PowerGpu& gpu, std::size_t limbs) const {
  gpu::Device& device = gpu_device(gpu.backend(), gpu.index());
  const std::lock_guard lock(mutex_);
  auto& runner = products_[{gpu.backend(), gpu.index(), limbs}];
  if (runner == nullptr) {
    runner = std::make_unique<const gpu::ProgramRunner>(technique_of(gpu.backend()), device, limbs);
  }
  return *runner;
}

gpu::Workspaces& RingDevices::workspaces(const PowerGpu& gpu) const {
  gpu::Device& device = gpu_device(gpu.backend(), gpu.index());
  const std::lock_guard lock(mutex_);
  auto& workspaces = workspaces_[{gpu.backend(), gpu.index()}];
  if (workspaces == nullptr) workspaces = std::make_unique<gpu::Workspaces>(device, kWorkspacesOfRing);
  return *workspaces;
}

RowLease RingDevices::lend_rows(const PowerGpu& gpu) const {
  gpu::Device& device = gpu_device(gpu.backend(), gpu.index());
  return {row_blocks(gpu, device), &device};
}

RowBlocks& RingDevices::row_blocks(const PowerGpu& gpu, gpu::Device& device) const {
  const std::lock_guard lock(mutex_);
  auto& blocks = row_blocks_[{gpu.backend(), gpu.index()}];
  if (blocks == nullptr) {
    blocks = std::make_shared<RowBlocks>();
    device.idle_memories().add(blocks);
  }
  return *blocks;
}

}  // namespace manymod::rsa
