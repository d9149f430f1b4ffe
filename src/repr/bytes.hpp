// SPDX-License-Identifier: Apache-2.0
// Conversion between big-endian bytes and little-endian limbs (RFC 8017, section 4).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "repr/canonical.hpp"
#include "repr/wipe.hpp"

namespace manymod {

using ByteSpan = std::span<const std::uint8_t>;

using SecretBytes = SecretArray<std::uint8_t>;

/// The limb in eight big-endian bytes.
inline Limb load_limb(const std::uint8_t* bytes) {
  Limb limb;
  std::memcpy(&limb, bytes, sizeof limb);
  return std::endian::native == std::endian::little ? __builtin_bswap64(limb) : limb;
}
/// A limb as eight big-endian bytes.
inline void store_limb(std::uint8_t* bytes, Limb limb) {
  if constexpr (std::endian::native == std::endian::little) limb = __builtin_bswap64(limb);
  std::memcpy(bytes, &limb, sizeof limb);
}

/// OS2IP: limbs = the number in `bytes`, zero-extended. On input: bytes.size() <= 8 limbs.size(). Timing:
/// constant-time.
inline void limbs_from_bytes(std::span<Limb> limbs, ByteSpan bytes) {
  std::size_t left = bytes.size();
  for (Limb& limb : limbs) {
    if (left >= sizeof limb) {
      left -= sizeof limb;
      limb = load_limb(bytes.data() + left);
      continue;
    }
    limb = 0;
    for (std::size_t i = 0; i < left; ++i) limb = (limb << 8) | bytes[i];
    left = 0;
  }
}

/// I2OSP: bytes = the low bytes.size() bytes of the number in `limbs`. Timing: constant-time.
inline void bytes_from_limbs(std::span<std::uint8_t> bytes, std::span<const Limb> limbs) {
  std::size_t left = bytes.size();
  for (const Limb limb : limbs) {
    if (left >= sizeof limb) {
      left -= sizeof limb;
      store_limb(bytes.data() + left, limb);
      continue;
    }
    for (std::size_t i = 0; left > 0; ++i) bytes[--left] = static_cast<std::uint8_t>(limb >> (8 * i));
    return;
  }
  std::fill_n(bytes.begin(), left, std::uint8_t{0});
}

/// `bytes` without leading zero bytes. Timing: variable-time.
inline ByteSpan without_leading_zeros_var(ByteSpan bytes) {
  std::size_t zeros = 0;
  while (zeros < bytes.size() && bytes[zeros] == 0) ++zeros;
  return bytes.subspan(zeros);
}

}  // namespace manymod
