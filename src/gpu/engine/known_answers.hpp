// SPDX-License-Identifier: Apache-2.0
// Tests of kernels on a device before their first use, for backends whose drivers compile them: a compiler
// may be wrong.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "engine/engine.hpp"
#include "gpu/device.hpp"
#include "gpu/engine/technique.hpp"
#include "gpu/program/shape.hpp"

namespace manymod::gpu {

/// Runs items of a job with moduli of that many limbs.
using RunItems = std::function<void(const Job& job, Items items, std::size_t modulus_limbs)>;

/// Compares products and powers in both timing classes, of operands at the edges of their ranges, with those
/// of `reference`. @return the first operation whose results differ; empty if all are right
std::string find_wrong_operation(const RunItems& tested, const Engine& reference, std::size_t modulus_limbs);

/// Tests the shape's kernel on the device if this is its first use in this process; `tested` runs it. A
/// kernel that failed is not tested again, and its technique is not selected for the device any more.
/// @throws DeviceError wrong_results; what `tested` throws
void check_answers(const Technique& technique, const Shape& shape, Device& device, const RunItems& tested);

}  // namespace manymod::gpu
