// SPDX-License-Identifier: Apache-2.0
// The CPU variants of technique ifma52 for the registry.
#pragma once

#include <vector>

#include "engine/variant.hpp"

namespace manymod::ifma52 {

void register_variants(std::vector<Variant>& variants);

}  // namespace manymod::ifma52
