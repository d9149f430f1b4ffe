// SPDX-License-Identifier: Apache-2.0
// The engine of a technique on a CUDA device.
#pragma once

#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/engine/technique.hpp"

namespace manymod::gpu {

/// Computes with the technique's shapes of `threads` threads per instance on GPU `device_index`. The GPU is
/// first used when there is something to compute. Throws cuda::DriverError where the GPU fails, besides
/// std::bad_alloc.
std::unique_ptr<Engine> make_engine(const Technique& technique, unsigned threads, unsigned device_index);

}  // namespace manymod::gpu
