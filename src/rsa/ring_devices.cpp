// SPDX-License-Identifier: Apache-2.0
#include "rsa/ring_devices.hpp"

#include <algorithm>
#include <memory>

#include "dispatch/devices.hpp"
#include "modmul/row32/variants.cuda.hpp"

namespace manymod::rsa {

// The CPU is one of the devices.
RingDevices::RingDevices() : arrays_(devices().size()) {}

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

PowersPlace::PowersPlace(const PowerEngines& engines, std::size_t powers, std::size_t exponent_limbs) {
  std::vector<const GpuPower*> gpus;
  std::vector<GpuCandidate> candidates;
  for (const GpuPower& gpu : engines.gpus_for(powers)) {
    if (!is_usable(gpu)) continue;
    gpus.push_back(&gpu);
    candidates.push_back({&gpu_load(gpu.device), gpu.size});
  }
  if (gpus.empty()) return;
  Job job;
  job.op = Operation::powmod;
  job.timing = engines.timing();
  job.x.width = engines.limbs();
  job.y.width = exponent_limbs;
  const double power_ns = gpus.front()->engine->item_cost_ns(job, engines.limbs());
  const double work =
      std::clamp(power_ns * static_cast<double>(powers), 1.0, static_cast<double>(GpuPlace::kMostWork));
  place_.emplace(candidates, static_cast<std::uint64_t>(work));
  gpu_ = gpus[place_->chosen()];
}

}  // namespace manymod::rsa
