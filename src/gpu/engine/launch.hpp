// SPDX-License-Identifier: Apache-2.0
// Launches of this library's kernels, for the engine and for benchmarks.
#pragma once

#include <cstddef>
#include <string>

#include "gpu/device.hpp"
#include "gpu/kernels/garner_job.hpp"
#include "gpu/kernels/residue_job.hpp"
#include "gpu/program/shape.hpp"

namespace manymod::gpu {

/// Bytes of shared memory of a block of `block` threads.
constexpr std::size_t shared_bytes(const Shape& shape, unsigned block) {
  return shape.block_shared_bytes + std::size_t{shape.shared_words} * block * sizeof(std::uint32_t);
}

/// The macros by which sources take a shape.
std::string shape_definitions(unsigned threads, unsigned per_thread, unsigned block);
KernelId kernel_id(const Shape& shape);

/// How many blocks of `block` threads all multiprocessors together hold at a time.
std::size_t resident_blocks(Device& device, const Shape& shape, unsigned block);

/// The launch for `items` items. A small number of items is distributed over all multiprocessors, in blocks
/// as small as the shape's step.
LaunchShape program_launch(Device& device, const Shape& shape, std::size_t items);

/// Enqueue the kernel mm_residue.
void launch_residue(const Stream& stream, const ResidueJob& job);

// Enqueue the kernels of gpu/kernels/garner_job.hpp.
void launch_difference(const Stream& stream, const GarnerDifferenceJob& job);
void launch_sum(const Stream& stream, const GarnerSumJob& job);

}  // namespace manymod::gpu
