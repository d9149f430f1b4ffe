// SPDX-License-Identifier: Apache-2.0
// The kernels of technique two_pass16, as the registry lists them.
#pragma once

#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::two_pass16 {

std::span<const gpu::Technique> cuda_forms();

}  // namespace manymod::two_pass16
