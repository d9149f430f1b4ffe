// SPDX-License-Identifier: Apache-2.0
#include "dispatch/variant_request.hpp"

#include <algorithm>

#include "core/environment.hpp"

namespace manymod {

void apply_forced_variant(VariantRequest& request, const char* argument) {
  if (argument != nullptr) {
    request.forced = argument;
    request.forced_by = "argument";
    return;
  }
  const char* environment = environment_variable("MANYMOD_VARIANT");
  if (environment == nullptr || *environment == '\0') return;
  request.forced = environment;
  request.forced_by = "MANYMOD_VARIANT";
}

const Variant* forced_variant(const VariantRequest& request, std::span<const Variant> variants) {
  if (!request.forced) return nullptr;
  const auto found = std::ranges::find(variants, *request.forced, &Variant::name);
  return found == variants.end() ? nullptr : &*found;
}

std::string task_name(const VariantRequest& request) {
  return std::string(operation_name(request.op)) + " in " + std::string(timing_description(request.timing)) +
         " at " + std::to_string(request.modulus_bits) + " bits";
}

}  // namespace manymod
