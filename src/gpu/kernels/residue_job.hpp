// SPDX-License-Identifier: Apache-2.0
// The argument of the kernel mm_residue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/program/program.hpp"

namespace manymod::gpu {

/// result = +-value 2^zero_bits mod n, or 2^(32 (words - 2) + zero_bits) mod n if value has no words.
struct ResidueJob {
  DeviceOperand modulus;  ///< n > 1, odd if zero_bits > 0; one of its upper two words is nonzero
  DeviceOperand value;    ///< result i is computed from value i mod `values`
  std::uint32_t values = 1;
  const std::uint8_t* negative = nullptr;  ///< per value: nonzero for -value; null if no value has a sign
  std::uint32_t words = 0;                 ///< of the modulus, even
  std::uint32_t zero_bits = 0;
  std::uint32_t count = 0;          ///< number of results
  std::uint32_t per_modulus = 1;    ///< result i is modulo modulus i / per_modulus
  std::uint32_t* result = nullptr;  ///< item i's `result_width` words from result[i result_width]
  std::uint32_t result_width = 0;   ///< >= words

  /// See Kernel::launch.
  static std::span<const std::size_t> device_pointers();
};

}  // namespace manymod::gpu
