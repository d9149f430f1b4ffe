// SPDX-License-Identifier: Apache-2.0
// Which variants serve a plan, and why the others do not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/devices.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/tuning.hpp"

namespace manymod {

/// Hardware a variant needs, for people: "bmi2 adx", "compute capability 9.0", "" for none.
std::string hardware_needs(const Variant& variant);

/// Why `variant` cannot run on `device`, whatever the operation; "" if it can.
std::string hardware_obstacle(const Variant& variant, const Device& device);

/// Why `variant` can run on none of `devices`; "" if one of them can run it.
std::string hardware_obstacle(const Variant& variant, std::span<const Device> devices);

/// As min_items: never the choice by number, only for items that the other choices do not accept.
inline constexpr std::size_t kFallbackOnly = SIZE_MAX;

struct VariantRequest {
  Operation op = Operation::mulmod;
  TimingClass timing = TimingClass::public_;
  std::size_t modulus_bits = 1;
  bool shared_modulus = false;              ///< one modulus for the items of a call
  std::string_view device = "auto";         ///< "auto", "cpu", "cuda", "cuda:K"
  std::optional<std::string_view> forced;   ///< a variant's name
  std::string_view forced_by = "argument";  ///< where the name came from, for messages
};

/// A variant and for how many items it is the choice.
struct Choice {
  const Variant* variant = nullptr;
  std::vector<const Device*> devices;  ///< the CPU, or GPUs, the largest first
  std::size_t min_items = 1;           ///< see EngineChoice
  bool needs_shared_modulus = false;   ///< takes the operation for several items with one modulus alone
};

/// The variants of a plan, on the CPU and on GPUs, as EngineSet orders them: the first for large batches.
struct Selection {
  std::vector<Choice> choices;
  bool shared_modulus = false;  ///< as requested
  const Variant* substitute =
      nullptr;  ///< computes on the CPU what a GPU fails to; null: its failure is the call's

  /// The variant that computes a batch of `items` items with odd moduli of one length and exponents that are
  /// not negative; of more items than fill its vectors, the rest may go to another.
  [[nodiscard]] const Variant& for_items(std::size_t items) const;
};

/// What there is to choose from.
struct Catalogue {
  std::span<const Variant> variants;
  std::span<const Device> devices;
  std::span<const TuningRow> tuning;
};

/// This build on this machine.
Catalogue catalogue();

/// Resolve a request. A variant that does not offer the operation in the asked timing class is never
/// returned.
/// @throws StatusError MM_ERR_UNKNOWN_DEVICE, MM_ERR_UNKNOWN_VARIANT or MM_ERR_UNUSABLE_VARIANT, saying what
/// there is.
///
/// The tuning rows for the request that name usable variants make the list; the earliest that takes a number
/// of items wins. Where there are none, the highest priority does, for batches of at least half its lanes.
/// Single items, and whatever the choices do not accept, go to the best variant that accepts every item. A
/// forced variant takes all that it accepts. Variants that need a shared modulus are choices of a request for
/// a modulus per item too: its calls may have one modulus for all their items.
///
/// Where several GPUs may be used ("auto", "cuda"), a choice is on all of them that can run its variant and
/// suit it (Variant::wants_fast_doubles). The choices are variants that suit the GPU with the most
/// multiprocessors, so that this one is never left idle. A forced variant need not suit it, and goes to GPUs
/// that it does not suit where it suits none.
Selection select_variants(const VariantRequest& request, const Catalogue& from = catalogue());

/// The variant forced by `argument` (NULL: none), else by the environment variable MANYMOD_VARIANT (empty:
/// none).
void apply_forced_variant(VariantRequest& request, const char* argument);

}  // namespace manymod
