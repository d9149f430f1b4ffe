// SPDX-License-Identifier: Apache-2.0
// Hides values from the compiler, so that it does not turn masks into branches.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// @return `word`. The compiler does not see where it comes from; if it knew that a mask is 0 or all ones, it
/// would make the load of a masked value conditional, as nvcc and Clang 19 do.
MM_DEVICE std::uint32_t opaque(std::uint32_t word) {
#if defined(__CUDA_ARCH__) || defined(__GNUC__)
  asm("" : "+r"(word));
#endif
  return word;
}

/// @return `word`, hidden from compilers for the host only. It is for code whose machine code for devices is
/// checked by tests (tests/cmake/check_device_secrets.py).
template <class Word>
MM_DEVICE Word opaque_on_host(Word word) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
  asm("" : "+r"(word));
#endif
  return word;
}

}  // namespace manymod::cuda
