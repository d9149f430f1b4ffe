// SPDX-License-Identifier: Apache-2.0
#include "exec/placement.hpp"

#include <utility>

namespace manymod {
namespace {

GpuGroup group_of(const std::vector<GpuEngine>& gpus) {
  std::vector<GpuMember> members;
  members.reserve(gpus.size());
  for (const GpuEngine& gpu : gpus) members.push_back({gpu.size, gpu.load});
  return GpuGroup(std::move(members));
}

}  // namespace

Placement::Placement(std::vector<GpuEngine> gpus, std::unique_ptr<const Engine> fallback)
    : gpus_(std::move(gpus)), group_(group_of(gpus_)), cpu_(std::move(fallback)) {}

std::size_t Placement::chunk_granularity(const Job& job, std::size_t modulus_limbs) const {
  const std::size_t place = gpus_.empty() ? 0 : group_.first_working();
  return engine(place).chunk_granularity(job, modulus_limbs);
}

}  // namespace manymod
