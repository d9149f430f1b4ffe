// SPDX-License-Identifier: Apache-2.0
// The OpenCL kernels of technique dpf52, as gpu::Techniques.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::dpf52 {

std::span<const gpu::Technique> opencl_techniques();

}  // namespace manymod::dpf52
