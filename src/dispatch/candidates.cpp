// SPDX-License-Identifier: Apache-2.0
#include "dispatch/candidates.hpp"

#include <algorithm>
#include <utility>

#include "dispatch/obstacles.hpp"

namespace manymod {
namespace {

// Multiprocessors of different models differ in speed, but without a measurement nothing else is known.
bool is_larger(const Device* a, const Device* b) {
  if (a->units != b->units) return a->units > b->units;
  return a->backend == b->backend && a->traits->rank() > b->traits->rank();
}

// The devices of `among` that can run the variant, in order of decreasing size.
std::vector<const Device*> able_devices(const Variant& variant, const std::vector<const Device*>& among) {
  std::vector<const Device*> able;
  for (const Device* device : among) {
    if (hardware_obstacle(variant, *device).empty()) able.push_back(device);
  }
  std::stable_sort(able.begin(), able.end(), is_larger);
  return able;
}

}  // namespace

std::vector<Candidate> find_candidates(const VariantRequest& request, std::span<const Variant> variants,
                                       const std::vector<const Device*>& among) {
  std::vector<Candidate> usable;
  for (const Variant& variant : variants) {
    if (!task_obstacle(variant, request).empty()) continue;
    Candidate candidate{&variant, able_devices(variant, among)};
    if (!candidate.devices.empty()) usable.push_back(std::move(candidate));
  }
  return usable;
}

bool suits(const Variant& variant, const Device* device) {
  return variant.requirements == nullptr || variant.requirements->suits(*device->traits);
}

std::vector<const Device*> best_devices(const Candidate& candidate) {
  std::vector<const Device*> best;
  for (const Device* device : candidate.devices) {
    if (suits(*candidate.variant, device)) best.push_back(device);
  }
  return best.empty() ? candidate.devices : best;
}

const Device* largest_gpu(const std::vector<Candidate>& candidates) {
  const Device* largest = nullptr;
  for (const Candidate& candidate : candidates) {
    const Device* const own = candidate.devices.front();
    if (own->backend != Backend::cpu && (largest == nullptr || is_larger(own, largest))) largest = own;
  }
  return largest;
}

}  // namespace manymod
