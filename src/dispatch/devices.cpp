// SPDX-License-Identifier: Apache-2.0
#include "dispatch/devices.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/cpu_features.hpp"
#include "gpu/cuda/driver.hpp"
#include "gpu/cuda/probe.hpp"

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

Device cuda_device(std::size_t index, const cuda::DeviceInfo& info,
                   std::span<const cuda::CodeArchitecture> code) {
  Device gpu;
  gpu.name = "cuda:" + std::to_string(index);
  gpu.model = info.model;
  gpu.backend = Backend::cuda;
  gpu.index = static_cast<unsigned>(index);
  gpu.features = "sm_" + std::to_string(info.compute_capability);
  gpu.units = info.multiprocessors;
  gpu.memory_bytes = info.memory_bytes;
  gpu.compute_capability = info.compute_capability;
  gpu.code_capability = cuda::code_capability(code, info.compute_capability);
  gpu.full_rate_doubles = cuda::full_rate_doubles(info.compute_capability);
  gpu.obstacle = info.obstacle;
  return gpu;
}

bool is_set(const char* value) {
  return value != nullptr && std::string_view(value) != "" && std::string_view(value) != "0";
}

/// What was found with the driver of one Driver::use. Kept for good, as plans refer to its devices.
struct Found {
  unsigned driver_use;
  Hardware hardware;
  const Found* previous;  // reachable, and so no leak
};

const Hardware& hardware() {
  // Not a lock: a child that is forked off while another thread holds one could never take it.
  static std::atomic<const Found*> latest = nullptr;
  const Found* found = latest.load();
  while (found == nullptr || found->driver_use != cuda::Driver::uses()) {
    const unsigned use = cuda::Driver::uses();
    auto made = std::make_unique<const Found>(
        Found{use, find_hardware(cuda::Driver::current(), std::getenv("MANYMOD_HIDE_CUDA")), found});
    if (latest.compare_exchange_strong(found, made.get())) found = made.release();
  }
  return found->hardware;
}

}  // namespace

Hardware find_hardware(cuda::Driver& driver, const char* hide_cuda) {
  Hardware found;
  found.devices.push_back(cpu_device());
  found.cuda.built = !driver.sources().images.empty();
  if (!found.cuda.built) {
    found.cuda.obstacle = "this build of manymod has no CUDA support";
    return found;
  }
  if (is_set(hide_cuda)) {
    found.cuda.obstacle = "hidden by MANYMOD_HIDE_CUDA";
    return found;
  }
  const cuda::Probe probe = cuda::probe(driver);
  if (probe.driver_version > 0) found.cuda.driver = cuda::version_text(probe.driver_version);
  found.cuda.obstacle = probe.obstacle;
  for (std::size_t i = 0; i < probe.devices.size(); ++i) {
    found.devices.push_back(cuda_device(i, probe.devices[i], driver.sources().architectures));
  }
  return found;
}

std::span<const Device> devices() { return hardware().devices; }

const CudaSupport& cuda_support() { return hardware().cuda; }

}  // namespace manymod
