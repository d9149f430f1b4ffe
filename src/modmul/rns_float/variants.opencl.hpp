// SPDX-License-Identifier: Apache-2.0
// The OpenCL kernels of technique rns_float, as gpu::Techniques.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::rns_float {

std::span<const gpu::Technique> opencl_techniques();

}  // namespace manymod::rns_float
