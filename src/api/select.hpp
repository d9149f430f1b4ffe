// SPDX-License-Identifier: Apache-2.0
// The variants and device that options ask for.
#pragma once

#include <cstddef>

#include "dispatch/engine.hpp"
#include "dispatch/selection.hpp"

namespace manymod {

/// `Options`: mm_plan_options or mm_fixed_base_options, which name device and variant alike.
/// @throws StatusError as select_variants
template <class Options>
Selection select_for(const Options& options, Operation op, TimingClass timing, std::size_t modulus_bits,
                     bool shared_modulus) {
  VariantRequest request;
  request.op = op;
  request.timing = timing;
  request.modulus_bits = modulus_bits;
  request.shared_modulus = shared_modulus;
  if (options.device != nullptr) request.device = options.device;
  apply_forced_variant(request, options.variant);
  return select_variants(request);
}

}  // namespace manymod
