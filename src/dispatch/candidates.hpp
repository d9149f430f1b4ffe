// SPDX-License-Identifier: Apache-2.0
// The variants that can serve a request, each with the devices that can run it.
#pragma once

#include <span>
#include <vector>

#include "dispatch/devices.hpp"
#include "dispatch/variant_request.hpp"

namespace manymod {

struct Candidate {
  const Variant* variant = nullptr;
  std::vector<const Device*> devices;  ///< that can run it, in order of decreasing size; not empty
};

/// The `variants` that can do the task of the request on some of the devices `among`.
std::vector<Candidate> find_candidates(const VariantRequest& request, std::span<const Variant> variants,
                                       const std::vector<const Device*>& among);

/// Whether the variant suits the device, which can run it (Requirements::suits).
bool suits(const Variant& variant, const Device* device);

/// The devices that the variant suits; all that can run it if it suits none.
std::vector<const Device*> best_devices(const Candidate& candidate);

/// The GPU with the most multiprocessors; null if no GPU can run any candidate.
const Device* largest_gpu(const std::vector<Candidate>& candidates);

}  // namespace manymod
