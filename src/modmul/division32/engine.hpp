// SPDX-License-Identifier: Apache-2.0
// The engine of division32 on the GPUs of a backend.
#pragma once

#include <memory>

#include "engine/engine.hpp"
#include "gpu/backend.hpp"

namespace manymod::division32 {

/// For addmod, submod, negmod, mulmod and sqrmod in variable time.
std::unique_ptr<Engine> make_engine(const gpu::Backend& backend, unsigned device_index);

}  // namespace manymod::division32
