// SPDX-License-Identifier: Apache-2.0
// An engine of the host for items whose operands or results are in a device's memory.
#pragma once

#include <memory>

#include "engine/engine.hpp"
#include "gpu/engine/resident.hpp"

namespace manymod::gpu {

/// Brings the items' integers to the host, has them computed by `engine`, and brings the results back.
/// `arrays` must outlive it.
std::unique_ptr<Engine> through_host(std::unique_ptr<const Engine> engine, const ResidentArrays& arrays);

}  // namespace manymod::gpu
