// SPDX-License-Identifier: Apache-2.0
// The CPU variants of technique radix29 for the registry.
#pragma once

#include <vector>

#include "engine/variant.hpp"

namespace manymod::radix29 {

void register_variants(std::vector<Variant>& variants);

}  // namespace manymod::radix29
