// SPDX-License-Identifier: Apache-2.0
// The kernels of technique dpf52, as the registry lists them.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::dpf52 {

std::span<const gpu::Technique> cuda_forms();

}  // namespace manymod::dpf52
