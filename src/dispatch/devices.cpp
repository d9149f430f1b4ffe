// SPDX-License-Identifier: Apache-2.0
#include "dispatch/devices.hpp"

#include <sstream>
#include <vector>

#include "dispatch/cpu_features.hpp"

namespace manymod {
namespace {

// A misspelt name must not pass for a feature that is hidden.
std::string features_text(const CpuInfo& info) {
  std::string text = cpu_feature_names(info.features);
  std::istringstream unknown(info.unknown_hidden);
  for (std::string name; unknown >> name;) {
    if (!text.empty()) text += ' ';
    text += "unknown-in-MANYMOD_HIDE_CPU:" + name;
  }
  return text;
}

Device cpu_device() {
  const CpuInfo& info = cpu_info();
  Device cpu;
  cpu.name = "cpu";
  cpu.model = info.model;
  cpu.backend = Backend::cpu;
  cpu.features = features_text(info);
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
