// SPDX-License-Identifier: Apache-2.0
// How kernels of this folder are launched, by the engine and by benchmarks.
#pragma once

#include <cstddef>

#include "gpu/cuda/device.hpp"
#include "gpu/cuda/stream.hpp"
#include "gpu/kernels/garner_job.hpp"
#include "gpu/kernels/residue_job.hpp"
#include "gpu/program/shape.hpp"

namespace manymod::gpu {

/// Bytes of shared memory that a block of so many threads needs.
constexpr std::size_t shared_bytes(const Shape& shape, unsigned block) {
  return shape.block_shared_bytes + std::size_t{shape.shared_words} * block * sizeof(std::uint32_t);
}

/// The launch for so many items. Few are spread over all multiprocessors, in blocks as small as the
/// shape's step.
cuda::LaunchShape program_launch(cuda::Device& device, const Shape& shape, std::size_t items);

/// Queue the kernel mm_residue.
void launch_residue(const cuda::Stream& stream, const ResidueJob& job);

// Queue the kernels of garner.hpp.
void launch_difference(const cuda::Stream& stream, const GarnerDifferenceJob& job);
void launch_sum(const cuda::Stream& stream, const GarnerSumJob& job);

}  // namespace manymod::gpu
