// SPDX-License-Identifier: Apache-2.0
// Whether an array of flags or statuses has any that is set.
#pragma once

#include <span>

namespace manymod {

/// Whether all bytes are 0. All are read, so that compilers use vectors, which they do neither for a search
/// nor well for std::count, whose sums are wider than a byte: it takes ten times as long.
template <class Byte>
  requires(sizeof(Byte) == 1)
[[nodiscard]] constexpr bool all_zero(std::span<const Byte> bytes) {
  unsigned char any = 0;
  for (const Byte byte : bytes) any = static_cast<unsigned char>(any | static_cast<unsigned char>(byte));
  return any == 0;
}

}  // namespace manymod
