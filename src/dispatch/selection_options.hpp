// SPDX-License-Identifier: Apache-2.0
// The device and variant named in the options of a plan.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "dispatch/selection.hpp"
#include "dispatch/variant_request.hpp"
#include "engine/engine.hpp"

namespace manymod {

/// Device, forced variant and task of a plan, kept so that variants can also be selected later.
class SelectionOptions {
 public:
  /// `Options`: mm_plan_options or mm_fixed_base_options, whose members `device` and `variant` have the same
  /// meaning.
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
    request_.forced.reset();  // the caller's text may end before this object
  }

  /// The variants for calls on arrays in host memory.
  /// @throws StatusError as select_variants
  [[nodiscard]] Selection select() const;

  /// The variants for calls on arrays in the memory of the GPU with index `device_index`: those of that GPU,
  /// even if the options name another one; those of the CPU if the options name the CPU or a CPU variant, or
  /// if that GPU has no variant for the task.
  /// @throws StatusError as select_variants
  [[nodiscard]] Selection select_on_gpu(unsigned device_index) const;

 private:
  VariantRequest request_;  // without its device and forced variant
  std::string device_;
  std::optional<std::string> forced_;

  [[nodiscard]] VariantRequest request_on(std::string_view device) const;
  // Whether the options name the CPU or a variant of it.
  [[nodiscard]] bool for_cpu() const;
};

}  // namespace manymod
