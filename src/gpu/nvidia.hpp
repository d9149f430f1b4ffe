// SPDX-License-Identifier: Apache-2.0
// What is known of NVIDIA's GPUs by their compute capability, 90 for 9.0, whichever API they are used by.
#pragma once

namespace manymod::gpu {

/// Whether FP64 instructions have at least half the throughput of FP32 instructions (CUDA C++ Programming
/// Guide, arithmetic instructions). GPUs for data centres do; others have 1/32 or 1/64.
constexpr bool full_rate_doubles(unsigned compute_capability) {
  switch (compute_capability) {
    case 60:
    case 70:
    case 80:
    case 90:
    case 100:
      return true;
    default:
      return false;
  }
}

}  // namespace manymod::gpu
