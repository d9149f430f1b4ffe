// SPDX-License-Identifier: Apache-2.0
// Rows of a call in host memory: gathered for a copy to a device, and stored after the copy back. And the cut
// of a call into chunks, each of which is copied, computed and copied back.
#pragma once

#include <algorithm>
#include <cstddef>

#include "engine/engine.hpp"
#include "gpu/device.hpp"
#include "gpu/device_error.hpp"

namespace manymod::division32 {

/// Chunks of a call in flight at a time. Copies between pageable and page-locked memory take longer than
/// those over the link: more than of other engines, whose kernels take longer.
inline constexpr std::size_t kInFlight = 8;
/// Items of one term of a chunk are a multiple of this.
inline constexpr std::size_t kGranularity = 4096;

/// The limbs of an item's operands and its result that are copied between the host and the device.
std::size_t copied_limbs_of_item(const manymod::Job& job, std::size_t modulus_limbs);

/// The time of the host for an item in nanoseconds: the device and its link are faster.
double host_cost_ns(const manymod::Job& job, std::size_t modulus_limbs);

/// The most items of a chunk, of each of which so many bytes are copied.
std::size_t items_of_copied_chunk(const gpu::Device& gpu, std::size_t copied_bytes);

/// Calls compute(chunk) for one chunk of at most `most` items after another, until a stop is requested. A
/// chunk that there is no memory for is halved.
template <class Compute>
void in_chunks(const StopToken& stop, Items items, std::size_t most, const Compute& compute) {
  for (std::size_t first = 0; first < items.size();) {
    if (stop.requested()) return;
    const Items chunk = items.subspan(first, std::min(most, items.size() - first));
    try {
      compute(chunk);
    } catch (const gpu::DeviceError& error) {
      if (error.fault() != gpu::Fault::out_of_memory || chunk.size() == 1) throw;
      most = chunk.size() / 2;
      continue;
    }
    first += chunk.size();
  }
}

/// Writes the lower `limbs` limbs of each item's integer to `to`. On input: the view is not shared by all
/// items.
void gather_rows(const BatchView& view, Items items, std::size_t limbs, std::byte* to);

/// Stores residues of `limbs` limbs each as the items' results. Timing: as store_result.
void store_rows(const manymod::Job& call, Items items, std::size_t limbs, const Limb* residues);

}  // namespace manymod::division32
