// SPDX-License-Identifier: Apache-2.0
#include "dispatch/devices.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/cpu_features.hpp"
#include "core/environment.hpp"
#include "engine/cpu_requirements.hpp"
#include "gpu/cuda/backend.hpp"
#include "gpu/opencl/backend.hpp"

namespace manymod {
namespace {

struct ListedBackend {
  const gpu::Backend* backend;
  const char* hiding_variable;  ///< environment variable: any value but "" and "0" hides its devices
};

// The list of GPU backends. No other file of src/dispatch includes one.
std::span<const ListedBackend> gpu_backends() {
  static const std::array backends{ListedBackend{&cuda::backend(), "MANYMOD_HIDE_CUDA"},
                                   ListedBackend{&opencl::backend(), "MANYMOD_HIDE_OPENCL"}};
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
  device.name = device_option(backend.id(), index);
  device.model = std::move(description.model);
  device.backend = backend.id();
  device.index = index;
  device.features = std::move(description.features);
  device.units = description.multiprocessors;
  device.memory_bytes = description.memory_bytes;
  device.traits = std::move(description.traits);
  device.obstacle = std::move(description.obstacle);
  device.by_name_only = description.by_name_only;
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

const Hardware& hardware(Listing listing) {
  // An atomic, not a mutex: a child that is forked while another thread holds a mutex can never lock it.
  static std::array<std::atomic<const Found*>, 2> latest_of{};
  std::atomic<const Found*>& latest = latest_of[static_cast<std::size_t>(listing)];
  const Found* found = latest.load();
  while (found == nullptr || found->generation != generation()) {
    const unsigned now = generation();
    auto next = std::make_unique<const Found>(Found{now, find_hardware(listing), found});
    if (latest.compare_exchange_strong(found, next.get())) found = next.release();
  }
  return found->hardware;
}

bool is_listed(const gpu::Backend& backend, Listing listing) {
  return listing == Listing::all || !backend.listing_initialises();
}

bool is_gpu_for_all(const Device& device) {
  return device.backend != Backend::cpu && device.obstacle.empty() && !device.by_name_only;
}

// What a plan for any device looks at.
Listing listing_for_auto() {
  if (std::ranges::any_of(devices(Listing::forkable), is_gpu_for_all)) return Listing::forkable;
  const auto may_have_more = [](const ListedBackend& listed) {
    return listed.backend->listing_initialises() && !is_set(listed.hiding_variable) &&
           listed.backend->may_have_gpu();
  };
  return std::ranges::any_of(gpu_backends(), may_have_more) ? Listing::all : Listing::forkable;
}

// Whether the text is ":K".
bool is_index(std::string_view text) {
  if (text.size() < 2 || text.front() != ':') return false;
  unsigned index = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Hardware find_hardware(Listing listing) {
  Hardware found;
  found.devices.push_back(cpu_device());
  for (const ListedBackend& listed : gpu_backends()) {
    if (!is_listed(*listed.backend, listing)) continue;
    found.gpus.push_back(find_gpus(listed, found.devices));
  }
  return found;
}

std::span<const Device> devices(Listing listing) { return hardware(listing).devices; }

std::span<const Device> devices_for(std::string_view option) {
  if (option == "auto") return devices(listing_for_auto());
  const std::optional<Backend> backend = backend_of_option(option);
  const bool all = backend && gpu_backend(*backend).listing_initialises();
  return devices(all ? Listing::all : Listing::forkable);
}

const char* backend_title(Backend backend) {
  return backend == Backend::cpu ? "CPU" : gpu_backend(backend).title();
}

const char* device_option(Backend backend) {
  return backend == Backend::cpu ? "cpu" : gpu_backend(backend).name();
}

std::string device_option(Backend backend, unsigned index) {
  return std::string(device_option(backend)) + ":" + std::to_string(index);
}

std::optional<Backend> backend_of_option(std::string_view option) {
  for (const ListedBackend& listed : gpu_backends()) {
    const std::string_view name = listed.backend->name();
    if (option == name || (option.starts_with(name) && is_index(option.substr(name.size())))) {
      return listed.backend->id();
    }
  }
  return std::nullopt;
}

std::string device_options() {
  std::string text = "'auto', 'cpu'";
  for (const ListedBackend& listed : gpu_backends()) {
    const std::string name = listed.backend->name();
    text += ", '" + name + "', '" + name + ":K'";
  }
  text.replace(text.rfind(", "), 2, " or ");
  return text;
}

const GpuSupport& gpu_support(Backend backend) {
  const bool all = gpu_backend(backend).listing_initialises();
  const std::vector<GpuSupport>& found = hardware(all ? Listing::all : Listing::forkable).gpus;
  return *std::find_if(found.begin(), found.end(),
                       [backend](const GpuSupport& support) { return support.backend == backend; });
}

gpu::Device& gpu_device(Backend backend, unsigned index) { return gpu_backend(backend).device(index); }

}  // namespace manymod
