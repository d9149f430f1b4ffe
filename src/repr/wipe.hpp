// SPDX-License-Identifier: Apache-2.0
// Erasing what may be secret before its memory is given back.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "repr/canonical.hpp"

namespace manymod {

/// Zero `bytes` bytes at `data`; the compiler may not drop the stores although nothing reads them again.
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

inline void wipe(std::span<Limb> limbs) { wipe_bytes(limbs.data(), limbs.size_bytes()); }

}  // namespace manymod
