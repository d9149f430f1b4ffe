// SPDX-License-Identifier: Apache-2.0
// The OpenCL kernels of technique cios32, as gpu::Techniques.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::cios32 {

std::span<const gpu::Technique> opencl_techniques();

}  // namespace manymod::cios32
