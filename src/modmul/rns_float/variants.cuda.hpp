// SPDX-License-Identifier: Apache-2.0
// The kernels of technique rns_float, for the registry.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::rns_float {

std::span<const gpu::Technique> cuda_forms();

}  // namespace manymod::rns_float
