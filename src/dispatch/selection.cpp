// SPDX-License-Identifier: Apache-2.0
#include "dispatch/selection.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "dispatch/cpu_features.hpp"
#include "dispatch/status_error.hpp"

namespace manymod {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

template <class Range, class Name>
std::string joined(const Range& range, Name&& name) {
  std::string text;
  for (const auto& element : range) {
    if (!text.empty()) text += ", ";
    text += name(element);
  }
  return text.empty() ? "none" : text;
}

std::string variant_names(std::span<const Variant> variants) {
  return joined(variants, [](const Variant& v) { return v.name; });
}

std::string device_names(std::span<const Device> devices) {
  return joined(devices, [](const Device& d) { return d.name; });
}

std::string with_commas(std::string names) {
  for (std::size_t at = names.find(' '); at != std::string::npos; at = names.find(' ', at + 2)) {
    names.replace(at, 1, ", ");
  }
  return names;
}

std::string capability(unsigned value) {
  return std::to_string(value / 10) + "." + std::to_string(value % 10);
}

std::string task_name(const VariantRequest& request) {
  return std::string(operation_name(request.op)) + " in timing class " +
         std::string(timing_name(request.timing)) + " at " + std::to_string(request.modulus_bits) + " bits";
}

bool offers(const Variant& variant, Operation op, TimingClass timing) {
  const OperationSet set =
      timing == TimingClass::secret ? variant.secret_operations : variant.public_operations;
  return (set & operation_bit(op)) != 0;
}

// Why the variant cannot do the task on any hardware; "" if it can.
std::string task_obstacle(const Variant& variant, const VariantRequest& request) {
  if (!offers(variant, request.op, request.timing)) {
    return "does not offer " + std::string(operation_name(request.op)) + " in timing class " +
           std::string(timing_name(request.timing));
  }
  if (request.modulus_bits < variant.min_bits || request.modulus_bits > variant.max_bits) {
    return "serves moduli of " + std::to_string(variant.min_bits) + " to " +
           std::to_string(variant.max_bits) + " bits, not " + std::to_string(request.modulus_bits);
  }
  return {};
}

std::vector<const Device*> devices_of_backend(std::span<const Device> devices, Backend backend) {
  std::vector<const Device*> matching;
  for (const Device& device : devices) {
    if (device.backend == backend) matching.push_back(&device);
  }
  return matching;
}

bool is_cuda_index(std::string_view name) {
  if (!name.starts_with("cuda:") || name.size() == 5) return false;
  unsigned index = 0;
  const auto [end, error] = std::from_chars(name.data() + 5, name.data() + name.size(), index);
  return error == std::errc() && end == name.data() + name.size();
}

std::vector<const Device*> devices_named(std::string_view name, std::span<const Device> devices) {
  std::vector<const Device*> matching;
  if (name == "auto") {
    for (const Device& device : devices) matching.push_back(&device);
    return matching;
  }
  if (name == "cpu") return devices_of_backend(devices, Backend::cpu);
  if (name != "cuda" && !is_cuda_index(name)) {
    throw StatusError(
        MM_ERR_UNKNOWN_DEVICE,
        "unknown device " + quoted(name) +
            ": expected 'auto', 'cpu', 'cuda' or 'cuda:K'; devices here: " + device_names(devices));
  }
  matching = devices_of_backend(devices, Backend::cuda);
  if (matching.empty()) {
    throw StatusError(MM_ERR_UNKNOWN_DEVICE, "no CUDA device found: device " + quoted(name) +
                                                 " asked for, devices here: " + device_names(devices));
  }
  if (name == "cuda") return matching;
  std::erase_if(matching, [name](const Device* device) { return device->name != name; });
  if (matching.empty()) {
    throw StatusError(MM_ERR_UNKNOWN_DEVICE,
                      "no device " + quoted(name) + "; devices here: " + device_names(devices));
  }
  return matching;
}

const Device* first_device_for(const Variant& variant, const std::vector<const Device*>& among) {
  for (const Device* device : among) {
    if (hardware_obstacle(variant, *device).empty()) return device;
  }
  return nullptr;
}

std::vector<Selection> candidates(const VariantRequest& request, const Catalogue& from,
                                  const std::vector<const Device*>& among) {
  std::vector<Selection> usable;
  for (const Variant& variant : from.variants) {
    if (!task_obstacle(variant, request).empty()) continue;
    if (const Device* device = first_device_for(variant, among)) usable.push_back({&variant, device});
  }
  return usable;
}

Selection best_of(const VariantRequest& request, std::span<const TuningRow> tuning,
                  const std::vector<Selection>& usable) {
  for (const TuningRow& row : tuning) {
    if (row.op != request.op || row.timing != request.timing) continue;
    if (request.modulus_bits < row.min_bits || request.modulus_bits > row.max_bits) continue;
    for (const Selection& candidate : usable) {
      if (candidate.variant->name == row.variant) return candidate;
    }
  }
  const Selection* best = &usable.front();
  for (const Selection& candidate : usable) {
    if (candidate.variant->priority > best->variant->priority) best = &candidate;
  }
  return *best;
}

std::string obstacle_on(const Variant& variant, const std::vector<const Device*>& among) {
  std::string obstacle;
  for (const Device* device : among) {
    obstacle = hardware_obstacle(variant, *device);
    if (obstacle.empty() || device->backend == variant.backend) return obstacle;
  }
  return obstacle;
}

[[noreturn]] void throw_unusable(const Variant& variant, const VariantRequest& request,
                                 const std::vector<const Device*>& among,
                                 const std::vector<Selection>& usable) {
  std::string why = task_obstacle(variant, request);
  if (why.empty()) why = obstacle_on(variant, among);
  throw StatusError(MM_ERR_UNUSABLE_VARIANT,
                    "variant " + quoted(variant.name) + " (" + std::string(request.forced_by) + ") " + why +
                        "; usable for " + task_name(request) + ": " +
                        joined(usable, [](const Selection& s) { return s.variant->name; }));
}

Selection forced_selection(const VariantRequest& request, const Catalogue& from,
                           const std::vector<const Device*>& among, const std::vector<Selection>& usable) {
  for (const Selection& candidate : usable) {
    if (candidate.variant->name == *request.forced) return candidate;
  }
  for (const Variant& variant : from.variants) {
    if (variant.name == *request.forced) throw_unusable(variant, request, among, usable);
  }
  throw StatusError(MM_ERR_UNKNOWN_VARIANT, "no variant named " + quoted(*request.forced) + " (" +
                                                std::string(request.forced_by) +
                                                "); variants: " + variant_names(from.variants));
}

}  // namespace

std::string_view operation_name(Operation op) {
  constexpr std::array<std::string_view, kOperationCount> kNames{
      "addmod", "submod", "negmod",       "mulmod",           "sqrmod",
      "powmod", "invmod", "multi_powmod", "fixed_base_powmod"};
  return kNames.at(static_cast<std::size_t>(op));
}

std::string_view timing_name(TimingClass timing) {
  return timing == TimingClass::secret ? "secret" : "public";
}

std::string hardware_needs(const Variant& variant) {
  if (variant.backend == Backend::cpu) return cpu_feature_names(variant.cpu_features);
  return "compute capability " + capability(variant.min_compute_capability);
}

std::string hardware_obstacle(const Variant& variant, const Device& device) {
  if (variant.backend != device.backend) {
    return std::string("needs a ") + (variant.backend == Backend::cuda ? "CUDA device" : "CPU") +
           ", not device " + quoted(device.name);
  }
  if (variant.backend == Backend::cuda) {
    if (device.compute_capability >= variant.min_compute_capability) return {};
    return "needs compute capability " + capability(variant.min_compute_capability) + ", device " +
           quoted(device.name) + " has " + capability(device.compute_capability);
  }
  const CpuFeatures missing = variant.cpu_features & ~device.cpu_features;
  if (missing == 0) return {};
  std::string why = "needs " + with_commas(cpu_feature_names(missing)) + ", which this CPU lacks";
  const CpuFeatures hidden = missing & device.hidden_features;
  if (hidden != 0) why += " (hidden by MANYMOD_HIDE_CPU: " + with_commas(cpu_feature_names(hidden)) + ")";
  return why;
}

std::string hardware_obstacle(const Variant& variant, std::span<const Device> devices) {
  const std::vector<const Device*> matching = devices_of_backend(devices, variant.backend);
  if (matching.empty()) {
    return std::string("no ") + (variant.backend == Backend::cuda ? "CUDA" : "CPU") + " device found";
  }
  return first_device_for(variant, matching) != nullptr ? std::string() : obstacle_on(variant, matching);
}

Catalogue catalogue() { return {registry(), devices(), tuning_table()}; }

Selection select_variant(const VariantRequest& request, const Catalogue& from) {
  const std::vector<const Device*> among = devices_named(request.device, from.devices);
  const std::vector<Selection> usable = candidates(request, from, among);
  if (request.forced) return forced_selection(request, from, among, usable);
  if (usable.empty()) {
    throw StatusError(MM_ERR_UNUSABLE_VARIANT, "no variant can run " + task_name(request) + " on device " +
                                                   quoted(request.device) +
                                                   "; variants: " + variant_names(from.variants));
  }
  return best_of(request, from.tuning, usable);
}

void apply_forced_variant(VariantRequest& request, const char* argument) {
  if (argument != nullptr) {
    request.forced = argument;
    request.forced_by = "argument";
    return;
  }
  const char* environment = std::getenv("MANYMOD_VARIANT");
  if (environment == nullptr || *environment == '\0') return;
  request.forced = environment;
  request.forced_by = "MANYMOD_VARIANT";
}

}  // namespace manymod
