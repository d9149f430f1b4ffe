// SPDX-License-Identifier: Apache-2.0
// What the selection of variants is asked for: a task, a device option and perhaps a forced variant.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/operation.hpp"
#include "engine/variant.hpp"

namespace manymod {

struct VariantRequest {
  Operation op = Operation::mulmod;
  TimingClass timing = TimingClass::public_;
  std::size_t modulus_bits = 1;
  bool shared_modulus = false;              ///< one modulus for all items of a call
  std::string_view device = "auto";         ///< see devices_named
  std::optional<std::string_view> forced;   ///< a variant's name
  std::string_view forced_by = "argument";  ///< source of that name, for messages
};

/// Sets the request's forced variant: `argument`, or if that is NULL the value of the environment variable
/// MANYMOD_VARIANT; none if that is empty or unset.
void apply_forced_variant(VariantRequest& request, const char* argument);

/// The one of `variants` that the request forces; null if it forces none, or one of another name.
const Variant* forced_variant(const VariantRequest& request, std::span<const Variant> variants);

/// The operation, timing class and width of the request, for messages.
std::string task_name(const VariantRequest& request);

}  // namespace manymod
