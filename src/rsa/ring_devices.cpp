// SPDX-License-Identifier: Apache-2.0
#include "rsa/ring_devices.hpp"

#include <algorithm>
#include <memory>

#include "dispatch/devices.hpp"
#include "dispatch/spread.hpp"

namespace manymod::rsa {

// The CPU is one of the devices.
RingDevices::RingDevices() : arrays_(devices().size()) {}

void RingDevices::add(std::size_t limbs) { products_.try_emplace(limbs, devices().size()); }

const device::ProgramRunner& RingDevices::products(unsigned device, std::size_t limbs) const {
  cuda::Device& gpu = cuda::device(device);
  return *products_.at(limbs).at(device).get(
      [&] { return std::make_unique<const device::ProgramRunner>(gpu, limbs); });
}

device::Workspaces& RingDevices::workspaces(unsigned device) const {
  cuda::Device& gpu = cuda::device(device);
  return arrays_.at(device).get([&] { return std::make_unique<const Arrays>(gpu); })->workspaces;
}

const GpuPower* least_loaded(std::span<const GpuPower> gpus) {
  const auto load = [](const GpuPower& gpu) { return gpu_load(gpu.device).work(); };
  const auto least = std::ranges::min_element(gpus, {}, load);
  return least == gpus.end() ? nullptr : &*least;
}

}  // namespace manymod::rsa
