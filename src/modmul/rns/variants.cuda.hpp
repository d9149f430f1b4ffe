// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels of technique rns, as one gpu::Technique for each of its forms.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::rns {

std::span<const gpu::Technique> cuda_techniques();

}  // namespace manymod::rns
