// SPDX-License-Identifier: Apache-2.0
#include "dispatch/named_devices.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "core/status_error.hpp"
#include "dispatch/messages.hpp"

namespace manymod {
namespace {

// The CPU, and the GPUs of the first backend that has one.
std::vector<const Device*> devices_for_auto(std::span<const Device> devices) {
  const auto usable = std::ranges::find_if(devices, [](const Device& device) {
    return device.backend != Backend::cpu && !device.by_name_only && device.obstacle.empty();
  });
  std::vector<const Device*> matching;
  for (const Device& device : devices) {
    const bool taken = usable == devices.end() || device.backend == usable->backend;
    if (device.backend == Backend::cpu || (taken && !device.by_name_only)) matching.push_back(&device);
  }
  return matching;
}

// `devices`: those that were looked for, which are the CPU and the devices of at most one backend.
[[noreturn]] void throw_unknown(const std::string& why, std::span<const Device> devices) {
  throw StatusError(MM_ERR_UNKNOWN_DEVICE, why + "; found so far: " + joined(devices, [](const Device& d) {
                                             return d.name;
                                           }) + "; `manymod info` looks for all devices");
}

}  // namespace

std::vector<const Device*> devices_of_backend(std::span<const Device> devices, Backend backend) {
  std::vector<const Device*> matching;
  for (const Device& device : devices) {
    if (device.backend == backend) matching.push_back(&device);
  }
  return matching;
}

std::vector<const Device*> default_devices(std::span<const Device> devices, Backend backend) {
  std::vector<const Device*> matching = devices_of_backend(devices, backend);
  const auto by_name = [](const Device* device) { return device->by_name_only; };
  if (!std::ranges::all_of(matching, by_name)) std::erase_if(matching, by_name);
  return matching;
}

std::vector<const Device*> devices_named(std::string_view name, std::span<const Device> devices) {
  if (name == "auto") return devices_for_auto(devices);
  if (name == "cpu") return devices_of_backend(devices, Backend::cpu);
  const std::optional<Backend> backend = backend_of_option(name);
  if (!backend) {
    throw_unknown("unknown device " + in_quotes(name) + ": expected " + device_options(), devices);
  }
  std::vector<const Device*> matching = devices_of_backend(devices, *backend);
  if (matching.empty()) {
    throw_unknown(std::string("no ") + backend_title(*backend) + " device found: device " + in_quotes(name) +
                      " was requested",
                  devices);
  }
  if (name.find(':') == std::string_view::npos) return default_devices(devices, *backend);
  std::erase_if(matching, [name](const Device* device) { return device->name != name; });
  if (matching.empty()) throw_unknown("no device " + in_quotes(name), devices);
  return matching;
}

}  // namespace manymod
