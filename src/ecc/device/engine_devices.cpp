// SPDX-License-Identifier: Apache-2.0
// What engines are made for and with.
#include <algorithm>
#include <exception>

#include "core/status_error.hpp"
#include "dispatch/devices.hpp"
#include "ecc/device/engine.hpp"

namespace manymod::ecc::device {

bool runs_here(Backend backend) {
  const auto usable = [backend](const Device& device) {
    return device.backend == backend && device.obstacle.empty();
  };
  return gpu_support(backend).built && std::ranges::any_of(devices_for(device_option(backend)), usable);
}

std::unique_ptr<const PointEngine> make_host(const Curve& curve) {
  const auto fits = [&curve](const Variant& variant) {
    return variant.backend == Backend::cpu && variant.offers(curve) && variant.runs_here();
  };
  return std::ranges::find_if(variants(), fits)->make(curve, {});
}

std::vector<gpu::Device*> open_devices(Backend backend, std::span<const unsigned> indices) {
  std::vector<gpu::Device*> devices;
  std::exception_ptr failure;
  for (const unsigned index : indices) {
    try {
      devices.push_back(&gpu_device(backend, index));
    } catch (const StatusError& error) {
      if (error.failure() == FailureClass::call) throw;
      if (failure == nullptr) failure = std::current_exception();
    }
  }
  if (devices.empty() && failure != nullptr) std::rethrow_exception(failure);
  return devices;
}

}  // namespace manymod::ecc::device
