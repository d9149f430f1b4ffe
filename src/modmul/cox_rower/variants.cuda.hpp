// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels of technique cox_rower.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::cox_rower {

std::span<const gpu::Technique> cuda_techniques();

}  // namespace manymod::cox_rower
