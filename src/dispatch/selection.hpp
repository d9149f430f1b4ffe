// SPDX-License-Identifier: Apache-2.0
// Chooses the variants that serve a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dispatch/devices.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/tuning.hpp"
#include "dispatch/variant_request.hpp"

namespace manymod {

/// As min_items: the variant is not chosen for a number of items, only for items that no other choice
/// accepts.
inline constexpr std::size_t kFallbackOnly = SIZE_MAX;

/// A variant and the least number of items for which it is chosen.
struct Choice {
  const Variant* variant = nullptr;
  std::vector<const Device*> devices;  ///< the CPU, or GPUs in order of decreasing size
  std::size_t min_items = 1;           ///< see EngineChoice
  bool needs_shared_modulus = false;   ///< accepts the operation only for several items with one modulus
};

/// The variants of a plan, on the CPU and on GPUs, in EngineSet's order: the first is for the largest
/// batches.
struct Selection {
  std::vector<Choice> choices;
  bool shared_modulus = false;  ///< as requested
  /// The variant that computes on the CPU the items of a GPU that failed; null: the call fails if a GPU
  /// fails.
  const Variant* cpu_fallback = nullptr;

  /// The variant that computes a batch of `items` items with odd moduli of one length and exponents >= 0.
  /// Items beyond a multiple of its vectors' lanes may be computed by another.
  [[nodiscard]] const Variant& for_items(std::size_t items) const;
};

/// The variants, devices and tuning rows from which a selection chooses.
struct Catalogue {
  std::span<const Variant> variants;
  std::span<const Device> devices;
  std::span<const TuningRow> tuning;
};

/// This build on this machine, with the devices among which that device option chooses.
Catalogue catalogue(std::string_view device);

/// Resolve a request. Never returns a variant that does not offer the operation in the requested timing
/// class.
/// @throws StatusError MM_ERR_UNKNOWN_DEVICE, MM_ERR_UNKNOWN_VARIANT or MM_ERR_UNUSABLE_VARIANT, with a
/// message that lists the alternatives.
///
/// The choices are the usable variants that the tuning rows for the request name, in the order of the rows:
/// the first whose min_items a batch reaches computes it. Without such rows the usable variant of the highest
/// priority is chosen, for batches of at least half its lanes. Single items, and items that no choice
/// accepts, go to the general variant: the best one that accepts every item. On GPUs that are requested by
/// name, a variant whose row_operations contain the operation precedes the others; the choice that would be
/// without it is for items that it does not accept. A forced variant computes everything that it accepts. A
/// request for a modulus per item may also get variants that need a shared modulus, as the items of a call
/// may still have one modulus in common.
///
/// If several GPUs may be used ("auto", "cuda"), a choice runs on all of them that meet its variant's
/// requirements and that it suits (Requirements::suits). Only variants that suit the largest GPU, that with
/// the most multiprocessors, become choices, so that it is never left idle. This does not apply to a forced
/// variant, which also runs on GPUs that it does not suit if it suits none.
Selection select_variants(const VariantRequest& request, const Catalogue& from);
/// From the catalogue of the request's device.
Selection select_variants(const VariantRequest& request);

}  // namespace manymod
