// SPDX-License-Identifier: Apache-2.0
// The variants and device that options ask for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "dispatch/selection.hpp"
#include "engine/engine.hpp"

namespace manymod {

/// What options ask for, kept for as long as choices may be made from it.
class SelectionOptions {
 public:
  /// `Options`: mm_plan_options or mm_fixed_base_options, which name device and variant alike.
  template <class Options>
  SelectionOptions(const Options& options, Operation op, TimingClass timing, std::size_t modulus_bits,
                   bool shared_modulus)
      : device_(options.device == nullptr ? "auto" : options.device) {
    request_.op = op;
    request_.timing = timing;
    request_.modulus_bits = modulus_bits;
    request_.shared_modulus = shared_modulus;
    apply_forced_variant(request_, options.variant);
    if (request_.forced) forced_ = current_variant_name(*request_.forced);
  }

  /// @throws StatusError as select_variants
  [[nodiscard]] Selection select() const;

  /// For calls on arrays in the memory of "cuda:`device_index`": its GPU's variants, whatever the device
  /// asked for, as long as one was not asked to stay on the CPU. The CPU's where that GPU has none for the
  /// task.
  /// @throws StatusError as select_variants
  [[nodiscard]] Selection select_beside(unsigned device_index) const;

 private:
  VariantRequest request_;  // but for its device and variant
  std::string device_;
  std::optional<std::string> forced_;

  [[nodiscard]] VariantRequest request_on(std::string_view device) const;
  [[nodiscard]] bool for_cpu() const;
};

}  // namespace manymod
