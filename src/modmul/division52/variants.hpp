// SPDX-License-Identifier: Apache-2.0
// The variants of technique division52 on CPUs, as the registry lists them.
#pragma once

#include <vector>

#include "engine/variant.hpp"

namespace manymod::division52 {

void register_variants(std::vector<Variant>& variants);

}  // namespace manymod::division52
