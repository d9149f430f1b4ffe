// SPDX-License-Identifier: Apache-2.0
// The argument of the OpenCL kernels of division32 (kernels.cl), which compute an item of rows in host memory
// that the host has copied to the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/program/program.hpp"
#include "modmul/division32/job.hpp"

namespace manymod::division32 {

/// add: x + y; subtract: x - y; multiply: x y + z; modulo the modulus. Numbers consist of whole limbs; an
/// operand of width 0 is 0.
struct RowJob {
  gpu::DeviceOperand x, y, z;
  gpu::DeviceOperand modulus;       ///< its top limb is not 0
  std::uint32_t* result = nullptr;  ///< as wide as the moduli; device memory, as all operands
  RowOperation operation = RowOperation::add;
  std::uint32_t count = 0;  ///< items

  /// See gpu::Kernel::launch.
  static std::span<const std::size_t> device_pointers();
};

}  // namespace manymod::division32
