// SPDX-License-Identifier: Apache-2.0
// Erases memory that may hold secrets before it is freed.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "repr/canonical.hpp"

namespace manymod {

/// Zeroes `bytes` bytes at `data`. The compiler cannot remove the stores, although nothing reads them again.
inline void wipe_bytes(void* data, std::size_t bytes) {
  if (bytes == 0) return;
  std::memset(data, 0, bytes);
#if defined(__GNUC__)
  __asm__ __volatile__("" : : "r"(data) : "memory");
#else
  volatile unsigned char* p = static_cast<volatile unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) p[i] = 0;
#endif
}

/// Zeroes limbs.
inline void wipe(std::span<Limb> limbs) { wipe_bytes(limbs.data(), limbs.size_bytes()); }

}  // namespace manymod
