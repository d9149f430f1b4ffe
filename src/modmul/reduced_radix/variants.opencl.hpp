// SPDX-License-Identifier: Apache-2.0
// The OpenCL kernels of technique reduced_radix, as gpu::Techniques.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::reduced_radix {

std::span<const gpu::Technique> opencl_techniques();

}  // namespace manymod::reduced_radix
