// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/launch.hpp"

#include <algorithm>

#include "gpu/kernels/item_kernel.hpp"

namespace manymod::gpu {
namespace {

constexpr unsigned kWarp = 32;

// The launch of a kernel in which one thread computes each of `items` items, in item_bytes(words) bytes of
// shared memory.
LaunchShape item_launch(const Device& device, std::uint32_t words, std::uint32_t items) {
  const std::size_t bytes = item_bytes(words);
  std::size_t fitting = device.properties().shared_per_block / bytes;
  if (fitting > kWarp) fitting = fitting / kWarp * kWarp;
  LaunchShape launch;
  launch.block = static_cast<unsigned>(std::clamp<std::size_t>(fitting, 1, kItemBlock));
  launch.grid = (items + launch.block - 1) / launch.block;
  launch.shared_bytes = bytes * launch.block;
  return launch;
}

}  // namespace

std::string shape_definitions(unsigned threads, unsigned per_thread, unsigned block) {
  return " -DMM_THREADS=" + std::to_string(threads) + " -DMM_PER_THREAD=" + std::to_string(per_thread) +
         " -DMM_BLOCK=" + std::to_string(block);
}

KernelId kernel_id(const Shape& shape) {
  if (*shape.source == '\0') return shape.kernel;
  return {shape.kernel, shape.source, shape_definitions(shape.threads, shape.per_thread, shape.block)};
}

std::size_t resident_blocks(Device& device, const Shape& shape, unsigned block) {
  const Kernel& kernel = device.kernel(kernel_id(shape));
  return std::size_t{kernel.blocks_per_multiprocessor(block, shared_bytes(shape, block))} *
         device.properties().multiprocessors;
}

LaunchShape program_launch(Device& device, const Shape& shape, std::size_t items) {
  const unsigned processors = device.properties().multiprocessors;
  const std::size_t lanes = items * shape.threads;
  const std::size_t per_processor = (lanes + processors - 1) / processors;
  LaunchShape launch;
  launch.block = static_cast<unsigned>(
      std::min<std::size_t>(shape.block, (per_processor + shape.step - 1) / shape.step * shape.step));
  launch.shared_bytes = shared_bytes(shape, launch.block);
  const std::size_t resident = std::max<std::size_t>(1, resident_blocks(device, shape, launch.block));
  launch.grid = static_cast<unsigned>(std::min(resident, (lanes + launch.block - 1) / launch.block));
  return launch;
}

void launch_residue(const Stream& stream, const ResidueJob& job) {
  Device& device = stream.device();
  device.kernel("mm_residue").launch(stream, item_launch(device, job.words, job.count), job);
}

void launch_difference(const Stream& stream, const GarnerDifferenceJob& job) {
  Device& device = stream.device();
  device.kernel("mm_garner_difference").launch(stream, item_launch(device, job.words, job.count), job);
}

void launch_sum(const Stream& stream, const GarnerSumJob& job) {
  Device& device = stream.device();
  device.kernel("mm_garner_sum").launch(stream, item_launch(device, job.words, job.count), job);
}

}  // namespace manymod::gpu
