// SPDX-License-Identifier: Apache-2.0
// Device memory that callers of the C ABI allocate, and checks of addresses in it.
#pragma once

#include <cstddef>
#include <string>

#include "gpu/device.hpp"

namespace manymod {

/// The CUDA device "cuda:`index`".
/// @throws StatusError MM_ERR_UNKNOWN_DEVICE, MM_ERR_DEVICE
gpu::Device& checked_device(unsigned index);

/// Checks that the first and the last of the `bytes` >= 1 bytes at `address` are in the device's memory; the
/// driver does not report where an array ends. `what` names the array in the message.
/// @throws StatusError MM_ERR_ARGUMENT
void check_on_device(gpu::Device& device, const void* address, std::size_t bytes, const std::string& what);

}  // namespace manymod
