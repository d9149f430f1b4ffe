// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels mm_garner_difference and mm_garner_sum: the parts of Garner's formula
// b + q ((a - b) qinv mod p) before and after the product by qinv = q^-1 mod p.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/program/program.hpp"

namespace manymod::gpu {

/// result = a - b + (a < b ? p : 0) mod 2^(32 words), which is (a - b) mod p if a < p and b < p.
struct GarnerDifferenceJob {
  DeviceOperand a, b, p;
  std::uint32_t words = 0;  ///< of each of them and of the result
  std::uint32_t count = 0;
  std::uint32_t* result = nullptr;  ///< item i's `words` words from result[i words]

  /// See Kernel::launch.
  static std::span<const std::size_t> device_pointers();
};

/// result = b + q h mod 2^(32 result_words).
struct GarnerSumJob {
  DeviceOperand b, q, h;
  std::uint32_t words = 0;  ///< of each of them
  std::uint32_t count = 0;
  std::uint32_t* result = nullptr;  ///< item i's `result_words` words from result[i result_words]
  std::uint32_t result_words = 0;   ///< at most 2 words

  /// See Kernel::launch.
  static std::span<const std::size_t> device_pointers();
};

}  // namespace manymod::gpu
