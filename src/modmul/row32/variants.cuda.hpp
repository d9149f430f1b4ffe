// SPDX-License-Identifier: Apache-2.0
// The kernels of technique row32, as the registry lists them.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::row32 {

std::span<const gpu::Technique> cuda_forms();

}  // namespace manymod::row32
