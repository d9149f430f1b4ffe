// SPDX-License-Identifier: Apache-2.0
// The constants that OpenCL kernels read, in the order of their use (multiplier.clh).
#pragma once

#include <cstddef>
#include <vector>

#include "modmul/rns_float/tables.hpp"

namespace manymod::rns_float {

/// On input: the bases have equally many prime moduli; `tile`, MM_TILE of multiplier.clh, divides their
/// number.
std::vector<std::byte> opencl_table(const BaseView& b, const BaseView& a, unsigned tile);

}  // namespace manymod::rns_float
