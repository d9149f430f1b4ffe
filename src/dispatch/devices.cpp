// SPDX-License-Identifier: Apache-2.0
#include "dispatch/devices.hpp"

#include <vector>

#include "dispatch/cpu_features.hpp"

namespace manymod {
namespace {

Device cpu_device() {
  const CpuInfo& info = cpu_info();
  Device cpu;
  cpu.name = "cpu";
  cpu.model = info.model;
  cpu.backend = Backend::cpu;
  cpu.features = cpu_feature_names(info.features);
  cpu.units = usable_cpu_count();
  cpu.memory_bytes = info.memory_bytes;
  cpu.cpu_features = info.features;
  cpu.hidden_features = info.hidden;
  return cpu;
}

}  // namespace

std::span<const Device> devices() {
  static const std::vector<Device> found{cpu_device()};
  return found;
}

}  // namespace manymod
