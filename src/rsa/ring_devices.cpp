// SPDX-License-Identifier: Apache-2.0
#include "rsa/ring_devices.hpp"

#include <limits>
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

GpuPlace::GpuPlace(const PowerEngines& engines, std::size_t powers, std::size_t exponent_limbs) {
  Job job;
  job.op = Operation::powmod;
  job.timing = engines.timing();
  job.x.width = engines.limbs();
  job.y.width = exponent_limbs;
  for (;;) {
    double earliest = std::numeric_limits<double>::infinity();
    std::uint64_t before = 0;
    gpu_ = nullptr;
    for (const GpuPower& gpu : engines.gpus_for(powers)) {
      if (!is_usable(gpu)) continue;
      const double work = gpu.engine->item_cost_ns(job, engines.limbs()) * static_cast<double>(powers);
      const std::uint64_t load = gpu_load(gpu.device).work();
      const double end = (static_cast<double>(load) + work) / gpu.size;
      if (end >= earliest) continue;
      earliest = end;
      gpu_ = &gpu;
      before = load;
      work_ = static_cast<std::uint64_t>(work);
    }
    if (gpu_ == nullptr || gpu_load(gpu_->device).add(before, work_)) return;
  }
}

GpuPlace::~GpuPlace() {
  if (gpu_ != nullptr) gpu_load(gpu_->device).remove(work_);
}

}  // namespace manymod::rsa
