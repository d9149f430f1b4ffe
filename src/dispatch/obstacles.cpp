// SPDX-License-Identifier: Apache-2.0
#include "dispatch/obstacles.hpp"

#include <algorithm>

#include "dispatch/messages.hpp"
#include "dispatch/named_devices.hpp"

namespace manymod {
namespace {

std::string no_device(const Variant& variant) {
  return std::string("no ") + backend_title(variant.backend) + " device found";
}

// Why the variant can run on none of the devices; "" if one of them can run it. On input: there is a device.
std::string obstacle_on_all(const Variant& variant, const std::vector<const Device*>& devices) {
  const auto can_run = [&](const Device* device) { return hardware_obstacle(variant, *device).empty(); };
  if (std::ranges::any_of(devices, can_run)) return {};
  const auto is_own = [&](const Device* device) { return device->backend == variant.backend; };
  const auto own = std::ranges::find_if(devices, is_own);
  return hardware_obstacle(variant, own == devices.end() ? *devices.back() : **own);
}

}  // namespace

std::string hardware_needs(const Variant& variant) {
  return variant.requirements == nullptr ? std::string() : variant.requirements->describe();
}

std::string hardware_obstacle(const Variant& variant, const Device& device) {
  if (variant.backend != device.backend) {
    return std::string("needs a ") + backend_title(variant.backend) +
           (variant.backend == Backend::cpu ? "" : " device") + ", not device " + in_quotes(device.name);
  }
  if (!device.obstacle.empty()) return "needs device " + in_quotes(device.name) + ": " + device.obstacle;
  if (variant.requirements == nullptr) return {};
  return variant.requirements->obstacle(device.name, *device.traits);
}

std::string hardware_obstacle(const Variant& variant, std::span<const Device> devices) {
  const std::vector<const Device*> matching = devices_of_backend(devices, variant.backend);
  return matching.empty() ? no_device(variant) : obstacle_on_all(variant, matching);
}

std::string task_obstacle(const Variant& variant, const VariantRequest& request) {
  if (!offers(variant, request.op, request.timing)) {
    return "does not offer " + std::string(operation_name(request.op)) + " in " +
           std::string(timing_description(request.timing));
  }
  if (request.timing == TimingClass::secret && variant.requirements != nullptr) {
    std::string obstacle = variant.requirements->secret_obstacle();
    if (!obstacle.empty()) return obstacle;
  }
  if (request.modulus_bits < variant.min_bits || request.modulus_bits > variant.max_bits) {
    return "serves moduli of " + std::to_string(variant.min_bits) + " to " +
           std::to_string(variant.max_bits) + " bits, not " + std::to_string(request.modulus_bits);
  }
  return {};
}

std::string request_obstacle(const Variant& variant, const VariantRequest& request,
                             const std::vector<const Device*>& among) {
  std::string of_task = task_obstacle(variant, request);
  if (!of_task.empty()) return of_task;
  return among.empty() ? "cannot be used: " + no_device(variant) : obstacle_on_all(variant, among);
}

}  // namespace manymod
