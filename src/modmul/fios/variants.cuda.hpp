// SPDX-License-Identifier: Apache-2.0
// The kernels of technique fios, as the registry lists them.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::fios {

std::span<const gpu::Technique> cuda_forms();

}  // namespace manymod::fios
