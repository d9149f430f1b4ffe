// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/host_rows.hpp"

#include <cstring>

#include "engine/store.hpp"
#include "gpu/engine/resident.hpp"
#include "modmul/division32/range_run.hpp"

namespace manymod::division32 {
namespace {

// Enough to be copied at full speed, and at most 1 / kPartsOfMemory of the device's memory.
constexpr std::size_t kBytesOfChunk = std::size_t{32} << 20;
constexpr std::size_t kPartsOfMemory = 128;
// The rate, in bytes per nanosecond, at which one thread gathers a chunk's operands and stores its results.
constexpr double kBytesPerNs = 5;

}  // namespace

std::size_t copied_limbs_of_item(const manymod::Job& job, std::size_t modulus_limbs) {
  const auto copied = [](const BatchView& view, std::size_t limbs) {
    return view.on_device || view.broadcast() ? 0 : limbs;
  };
  return terms_of(job) * (copied(job.x, job.x.width) + copied(job.y, job.y.width)) +
         copied(job.z, job.z.width) + copied(job.modulus, modulus_limbs) +
         (job.result.on_device ? 0 : modulus_limbs);
}

double host_cost_ns(const manymod::Job& job, std::size_t modulus_limbs) {
  return static_cast<double>(copied_limbs_of_item(job, modulus_limbs) * sizeof(Limb)) / kBytesPerNs;
}

std::size_t items_of_copied_chunk(const gpu::Device& gpu, std::size_t copied_bytes) {
  if (copied_bytes == 0) return kItemsPerLaunch;
  const auto part = static_cast<std::size_t>(gpu.properties().memory_bytes / kPartsOfMemory);
  return std::clamp<std::size_t>(std::min(kBytesOfChunk, part) / copied_bytes, 1, kItemsPerLaunch);
}

void gather_rows(const BatchView& view, Items items, std::size_t limbs, std::byte* to) {
  const std::size_t bytes = limbs * sizeof(Limb);
  if (view.stride == limbs && gpu::consecutive(items)) {
    std::memcpy(to, view.magnitude(items[0]).data(), items.size() * bytes);
    return;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::memcpy(to + i * bytes, view.magnitude(items[i]).data(), bytes);
  }
}

void store_rows(const manymod::Job& call, Items items, std::size_t limbs, const Limb* residues) {
  const BatchResult& result = call.result;
  const bool plain = call.modulus.negative == nullptr && result.stride == limbs && result.width == limbs &&
                     gpu::consecutive(items);
  if (plain) {
    std::memcpy(result.magnitude(items[0]).data(), residues, items.size() * limbs * sizeof(Limb));
    if (result.negative != nullptr) std::memset(result.negative + items[0], 0, items.size());
    return;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    store_result(call, items[i], {residues + i * limbs, limbs},
                 call.modulus.magnitude(items[i]).first(limbs));
  }
}

}  // namespace manymod::division32
