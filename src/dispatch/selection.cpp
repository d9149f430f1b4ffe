// SPDX-License-Identifier: Apache-2.0
#include "dispatch/selection.hpp"

#include <algorithm>

#include "core/status_error.hpp"
#include "dispatch/candidates.hpp"
#include "dispatch/chooser.hpp"
#include "dispatch/messages.hpp"
#include "dispatch/named_devices.hpp"
#include "dispatch/obstacles.hpp"

namespace manymod {
namespace {

// The devices on which the request may be computed. A forced variant implies its backend.
std::vector<const Device*> requested_devices(const VariantRequest& request, const Catalogue& from) {
  const Variant* const forced = request.device == "auto" ? forced_variant(request, from.variants) : nullptr;
  return forced == nullptr || forced->backend == Backend::cpu
             ? devices_named(request.device, from.devices)
             : default_devices(from.devices, forced->backend);
}

// For messages about a forced variant.
std::string what_is_usable(const VariantRequest& request, const std::vector<Candidate>& usable) {
  return "; usable for " + task_name(request) + ": " +
         joined(usable, [](const Candidate& candidate) { return candidate.variant->name; });
}

Candidate forced_candidate(const VariantRequest& request, const Catalogue& from,
                           const std::vector<const Device*>& among, const std::vector<Candidate>& usable) {
  const std::string named = in_quotes(*request.forced) + " (" + std::string(request.forced_by) + ")";
  const Variant* const variant = forced_variant(request, from.variants);
  if (variant == nullptr) {
    throw StatusError(MM_ERR_UNKNOWN_VARIANT, "no variant named " + named + what_is_usable(request, usable) +
                                                  "; `manymod info` lists all " +
                                                  std::to_string(from.variants.size()));
  }
  const auto found = std::ranges::find(usable, variant, &Candidate::variant);
  if (found != usable.end()) return *found;
  throw StatusError(MM_ERR_UNUSABLE_VARIANT, "variant " + named + " " +
                                                 request_obstacle(*variant, request, among) +
                                                 what_is_usable(request, usable));
}

// Why a variant of the devices' backends that offers the operation is not usable, for messages; "" if none
// does.
std::string best_known_obstacle(const VariantRequest& request, const Catalogue& from,
                                const std::vector<const Device*>& among) {
  for (const Variant& variant : from.variants) {
    const auto is_own = [&](const Device* device) { return device->backend == variant.backend; };
    if (!offers(variant, request.op, request.timing) || std::ranges::none_of(among, is_own)) continue;
    const std::string why = request_obstacle(variant, request, among);
    if (!why.empty()) return ": variant " + in_quotes(variant.name) + " " + why;
  }
  return {};
}

}  // namespace

const Variant& Selection::for_items(std::size_t items) const {
  const bool one_modulus = shared_modulus && items > 1;
  for (const std::size_t least : {std::max<std::size_t>(1, items), kFallbackOnly}) {
    for (const Choice& choice : choices) {
      if (choice.min_items <= least && (one_modulus || !choice.needs_shared_modulus)) return *choice.variant;
    }
  }
  return *choices.back().variant;
}

Catalogue catalogue(std::string_view device) {
  return {registry(), devices_for(device), tuning_table().rows};
}

Selection select_variants(const VariantRequest& request) {
  const Variant* const forced = request.device == "auto" ? forced_variant(request, registry()) : nullptr;
  return select_variants(request,
                         catalogue(forced == nullptr ? request.device : device_option(forced->backend)));
}

Selection select_variants(const VariantRequest& request, const Catalogue& from) {
  const std::vector<const Device*> among = requested_devices(request, from);
  const std::vector<Candidate> usable = find_candidates(request, from.variants, among);
  const std::vector<Candidate> on_cpu =
      find_candidates(request, from.variants, devices_of_backend(from.devices, Backend::cpu));
  Chooser chooser(request, from.tuning, usable, on_cpu);
  if (request.forced) {
    // Without a device of the forced variant's backend the CPU is what is left of device "auto".
    const bool names_cpu = usable.empty() && request.device == "auto";
    return chooser.forced(forced_candidate(request, from, among, names_cpu ? on_cpu : usable));
  }
  if (usable.empty()) {
    throw StatusError(MM_ERR_UNUSABLE_VARIANT,
                      "no variant can run " + task_name(request) + " on device " + in_quotes(request.device) +
                          best_known_obstacle(request, from, among) + "; `manymod info` lists the variants");
  }
  return chooser.best();
}

}  // namespace manymod
