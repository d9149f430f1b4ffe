// SPDX-License-Identifier: Apache-2.0
// A CPU engine for items whose operands or results are in a device's memory.
#pragma once

#include <memory>

#include "engine/engine.hpp"
#include "gpu/engine/resident.hpp"

namespace manymod::gpu {

/// Copies the items' integers to the host, computes them by `engine`, and copies the results back. `arrays`
/// must outlive the engine.
std::unique_ptr<Engine> through_host(std::unique_ptr<const Engine> engine, const ResidentArrays& arrays);

}  // namespace manymod::gpu
