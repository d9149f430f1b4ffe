// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/probe.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/environment.hpp"
#include "gpu/cuda/driver.hpp"
#include "gpu/cuda/nvml.hpp"

namespace manymod::cuda {
namespace {

std::optional<std::vector<DeviceInfo>> from_nvml(const std::string& library) {
  // The driver may follow variables that the library then ignores: let it list the GPUs itself.
  if (has_elevated_privileges()) return std::nullopt;
  const auto managed = managed_devices(library);
  if (!managed) return std::nullopt;
  const auto order = visible_order(*managed, environment_variable("CUDA_VISIBLE_DEVICES"),
                                   environment_variable("CUDA_DEVICE_ORDER"));
  if (!order) return std::nullopt;
  std::vector<DeviceInfo> devices;
  for (const std::size_t number : *order) devices.push_back((*managed)[number].info);
  return devices;
}

DeviceInfo describe(const Driver& driver, const DriverApi& api, int index) {
  DeviceHandle handle = 0;
  driver.check(api.device_get, api.device_get(&handle, index), index);
  const auto attribute = [&](int wanted) {
    int value = 0;
    driver.check(api.device_get_attribute, api.device_get_attribute(&value, wanted, handle), index);
    return static_cast<unsigned>(std::max(value, 0));
  };
  std::array<char, 256> model{};
  driver.check(api.device_get_name,
               api.device_get_name(model.data(), static_cast<int>(model.size()) - 1, handle), index);
  std::size_t memory_bytes = 0;
  driver.check(api.device_total_memory, api.device_total_memory(&memory_bytes, handle), index);
  DeviceInfo info;
  info.model = model.data();
  info.compute_capability = 10 * attribute(kCapabilityMajor) + attribute(kCapabilityMinor);
  info.multiprocessors = attribute(kMultiprocessorCount);
  info.memory_bytes = memory_bytes;
  if (attribute(kComputeMode) == kComputeModeProhibited) info.obstacle = prohibited_message();
  return info;
}

std::vector<DeviceInfo> from_driver(Driver& driver) {
  const DriverApi& api = driver.initialised_api();
  int count = 0;
  driver.check(api.device_get_count, api.device_get_count(&count));
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) devices.push_back(describe(driver, api, i));
  return devices;
}

void find_devices(Driver& driver, Probe& found) {
  found.driver_version = driver.version();
  driver.check_version();
  std::optional<std::vector<DeviceInfo>> devices;
  if (!driver.initialised() || driver.forked()) devices = from_nvml(driver.sources().management);
  if (!devices) devices = from_driver(driver);
  found.devices = std::move(*devices);
  for (DeviceInfo& device : found.devices) {
    if (driver.forked() && device.obstacle.empty()) device.obstacle = forked_message();
  }
  if (found.devices.empty()) found.obstacle = "the NVIDIA driver offers no GPU to this process";
}

}  // namespace

std::string prohibited_message() { return "its compute mode is prohibited"; }

Probe probe(Driver& driver) {
  Probe found;
  try {
    find_devices(driver, found);
  } catch (const DriverError& error) {
    found.obstacle = error.what();
    found.devices.clear();
  }
  return found;
}

}  // namespace manymod::cuda
