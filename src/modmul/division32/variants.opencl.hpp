// SPDX-License-Identifier: Apache-2.0
// The variant division32.opencl.
#pragma once

#include <vector>

#include "engine/variant.hpp"

namespace manymod::division32 {

void register_opencl_variants(std::vector<Variant>& variants);

}  // namespace manymod::division32
