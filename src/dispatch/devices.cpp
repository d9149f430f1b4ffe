// SPDX-License-Identifier: Apache-2.0
#include "dispatch/devices.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/cpu_features.hpp"
#include "core/environment.hpp"
#include "engine/cpu_requirements.hpp"
#include "gpu/cuda/backend.hpp"

namespace manymod {
namespace {

struct ListedBackend {
  const gpu::Backend* backend;
  const char* hiding_variable;  ///< environment variable: any value but "" and "0" hides its devices
};

// The list of GPU backends. No other file of src/dispatch includes one.
std::span<const ListedBackend> gpu_backends() {
  static const std::array backends{ListedBackend{&cuda::backend(), "MANYMOD_HIDE_CUDA"}};
  return backends;
}

const gpu::Backend& gpu_backend(Backend id) {
  const std::span<const ListedBackend> all = gpu_backends();
  return *std::find_if(all.begin(), all.end(), [id](const ListedBackend& listed) {
            return listed.backend->id() == id;
          })->backend;
}

// A misspelt name must not look like a feature that is hidden.
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
  cpu.traits = std::make_shared<const CpuTraits>(info.features, info.hidden);
  return cpu;
}

Device device_of(const gpu::Backend& backend, unsigned index, gpu::DeviceDescription description) {
  Device device;
  device.name = std::string(backend.name()) + ":" + std::to_string(index);
  device.model = std::move(description.model);
  device.backend = backend.id();
  device.index = index;
  device.features = std::move(description.features);
  device.units = description.multiprocessors;
  device.memory_bytes = description.memory_bytes;
  device.traits = std::move(description.traits);
  device.obstacle = std::move(description.obstacle);
  return device;
}

bool is_set(const char* variable) {
  const char* const value = environment_variable(variable);
  return value != nullptr && std::string_view(value) != "" && std::string_view(value) != "0";
}

// Appends the backend's devices to `found`.
GpuSupport find_gpus(const ListedBackend& listed, std::vector<Device>& found) {
  const gpu::Backend& backend = *listed.backend;
  GpuSupport support;
  support.backend = backend.id();
  support.built = backend.built();
  if (!support.built) {
    support.obstacle = std::string("this build of manymod has no ") + backend.title() + " support";
  } else if (is_set(listed.hiding_variable)) {
    support.obstacle = std::string("hidden by ") + listed.hiding_variable;
  } else {
    gpu::DeviceList list = backend.list_devices();
    support.driver = std::move(list.driver);
    support.obstacle = std::move(list.obstacle);
    unsigned index = 0;
    for (gpu::DeviceDescription& description : list.devices) {
      found.push_back(device_of(backend, index++, std::move(description)));
    }
  }
  return support;
}

// Changes when the generation of a backend changes.
unsigned generation() {
  unsigned sum = 0;
  for (const ListedBackend& listed : gpu_backends()) sum += listed.backend->generation();
  return sum;
}

/// The hardware found in one generation. Never freed, as plans refer to its devices.
struct Found {
  unsigned generation;
  Hardware hardware;
  const Found* previous;  // keeps it reachable, so that it does not count as leaked
};

const Hardware& hardware() {
  // An atomic, not a mutex: a child that is forked while another thread holds a mutex can never lock it.
  static std::atomic<const Found*> latest = nullptr;
  const Found* found = latest.load();
  while (found == nullptr || found->generation != generation()) {
    const unsigned now = generation();
    auto next = std::make_unique<const Found>(Found{now, find_hardware(), found});
    if (latest.compare_exchange_strong(found, next.get())) found = next.release();
  }
  return found->hardware;
}

}  // namespace

Hardware find_hardware() {
  Hardware found;
  found.devices.push_back(cpu_device());
  for (const ListedBackend& listed : gpu_backends()) {
    found.gpus.push_back(find_gpus(listed, found.devices));
  }
  return found;
}

std::span<const Device> devices() { return hardware().devices; }

const GpuSupport& gpu_support(Backend backend) {
  const std::vector<GpuSupport>& all = hardware().gpus;
  return *std::find_if(all.begin(), all.end(),
                       [backend](const GpuSupport& support) { return support.backend == backend; });
}

gpu::Device& gpu_device(Backend backend, unsigned index) { return gpu_backend(backend).device(index); }

}  // namespace manymod
