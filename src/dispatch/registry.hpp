// SPDX-License-Identifier: Apache-2.0
// The list of all variants that this build knows. registry.cpp is the one place that names the techniques.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/variant.hpp"

namespace manymod {

/// Every variant this build knows, in registration order. Built on first use, constant afterwards.
std::span<const Variant> registry();

/// The current name of the variant that earlier releases called `name`; `name` itself if it was not renamed.
/// Technique radix29 was first called radix28.
std::string current_variant_name(std::string_view name);

}  // namespace manymod
