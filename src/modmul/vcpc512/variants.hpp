// SPDX-License-Identifier: Apache-2.0
// The CPU variants of technique vcpc512 for the registry.
#pragma once

#include <vector>

#include "engine/variant.hpp"

namespace manymod::vcpc512 {

void register_variants(std::vector<Variant>& variants);

}  // namespace manymod::vcpc512
