// SPDX-License-Identifier: Apache-2.0
// The kernels of technique rns, for the registry.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::rns {

std::span<const gpu::Technique> cuda_forms();

}  // namespace manymod::rns
