// SPDX-License-Identifier: Apache-2.0
// The engine of a technique on a GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/engine/technique.hpp"

namespace manymod::gpu {

/// Computes with the technique's shapes of `threads` threads per instance on the backend's device of that
/// index, which is opened at the first computation. Functions throw DeviceError if the device fails, and
/// std::bad_alloc.
std::unique_ptr<Engine> make_engine(const Technique& technique, unsigned threads, unsigned device_index);

/// Tests the kernel of the technique's shape that holds moduli of `limbs` limbs with `threads` threads, as
/// the engine does before its first use. @throws DeviceError
void check_kernel(const Technique& technique, unsigned threads, unsigned device_index, std::size_t limbs);

}  // namespace manymod::gpu
