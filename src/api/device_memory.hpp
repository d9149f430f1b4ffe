// SPDX-License-Identifier: Apache-2.0
// Memory of CUDA devices that callers of the C ABI allocate, and checks of addresses there.
#pragma once

#include <cstddef>
#include <string>

#include "gpu/cuda/device.hpp"

namespace manymod {

/// The CUDA device "cuda:`index`".
/// @throws StatusError MM_ERR_UNKNOWN_DEVICE, MM_ERR_DEVICE
cuda::Device& checked_device(unsigned index);

/// `bytes` >= 1 bytes from `address` on are in the device's memory, as far as can be told without knowing
/// where arrays end.
/// @throws StatusError MM_ERR_ARGUMENT (`what` names the array in the message)
void check_on_device(cuda::Device& device, const void* address, std::size_t bytes, const std::string& what);

}  // namespace manymod
