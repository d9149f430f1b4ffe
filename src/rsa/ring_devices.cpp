// SPDX-License-Identifier: Apache-2.0
#include "rsa/ring_devices.hpp"

#include <algorithm>
#include <memory>

#include "dispatch/devices.hpp"
#include "modmul/row32/variants.cuda.hpp"

namespace manymod::rsa {

// The CPU is one of the devices.
RingDevices::RingDevices() : arrays_(devices().size()) {}

bool RingDevices::holds(std::size_t limbs) {
  return std::ranges::any_of(row32::cuda_forms().front().shapes,
                             [&](const gpu::Shape& shape) { return shape.words >= 2 * limbs; });
}

void RingDevices::add(std::size_t limbs) { products_.try_emplace(limbs, devices().size()); }

const gpu::ProgramRunner& RingDevices::products(unsigned device, std::size_t limbs) const {
  gpu::Device& gpu = gpu_device(Backend::cuda, device);
  return *products_.at(limbs).at(device).get(
      [&] { return std::make_unique<const gpu::ProgramRunner>(row32::cuda_forms().front(), gpu, limbs); });
}

gpu::Workspaces& RingDevices::workspaces(unsigned device) const {
  gpu::Device& gpu = gpu_device(Backend::cuda, device);
  return arrays_.at(device).get([&] { return std::make_unique<const Arrays>(gpu); })->workspaces;
}

}  // namespace manymod::rsa
