// SPDX-License-Identifier: Apache-2.0
// The engine of a technique on a GPU.
#pragma once

#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/engine/technique.hpp"

namespace manymod::gpu {

/// Computes with the technique's shapes of `threads` threads per instance on the backend's device of that
/// index, which is opened at the first computation. Functions throw DeviceError if the device fails, and
/// std::bad_alloc.
std::unique_ptr<Engine> make_engine(const Technique& technique, unsigned threads, unsigned device_index);

}  // namespace manymod::gpu
