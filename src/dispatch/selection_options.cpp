// SPDX-License-Identifier: Apache-2.0
#include "dispatch/selection_options.hpp"

#include <algorithm>
#include <span>

#include "core/status_error.hpp"
#include "dispatch/registry.hpp"

namespace manymod {

VariantRequest SelectionOptions::request_on(std::string_view device) const {
  VariantRequest request = request_;
  request.device = device;
  if (forced_) request.forced = *forced_;
  return request;
}

bool SelectionOptions::for_cpu() const {
  const std::span<const Variant> variants = registry();
  const auto forced = std::find_if(variants.begin(), variants.end(),
                                   [this](const Variant& variant) { return variant.name == forced_; });
  return device_ == "cpu" || (forced != variants.end() && forced->backend == Backend::cpu);
}

Selection SelectionOptions::select() const { return select_variants(request_on(device_)); }

Selection SelectionOptions::select_on_gpu(unsigned device_index) const {
  if (for_cpu()) return select_variants(request_on("cpu"));
  try {
    return select_variants(request_on(device_option(Backend::cuda, device_index)));
  } catch (const StatusError& error) {
    if (forced_ || error.status() != MM_ERR_UNUSABLE_VARIANT) throw;
    return select_variants(request_on("cpu"));
  }
}

}  // namespace manymod
