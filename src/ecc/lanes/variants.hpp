// SPDX-License-Identifier: Apache-2.0
// The variants of point arithmetic on instances in the lanes of vectors.
#pragma once

#include <array>

#include "ecc/variants.hpp"

namespace manymod::ecc::lanes {

/// lanes.ifma52, lanes.radix29.avx512, lanes.radix29.avx2: fastest first.
std::array<Variant, 3> variants();

}  // namespace manymod::ecc::lanes
