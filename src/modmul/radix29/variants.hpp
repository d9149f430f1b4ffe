// SPDX-License-Identifier: Apache-2.0
// The variants of technique radix29 on CPUs, as the registry lists them.
#pragma once

#include <vector>

#include "engine/variant.hpp"

namespace manymod::radix29 {

void register_variants(std::vector<Variant>& variants);

}  // namespace manymod::radix29
