// SPDX-License-Identifier: Apache-2.0
// What signing by EdDSA needs of a private key (RFC 8032, sections 5.1.5 and 5.2.5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/limb.hpp"
#include "repr/bytes.hpp"

namespace manymod::ecc::eddsa {

/// Bytes of keys and points, and limbs of the order, of Ed448; Ed25519 has fewer.
inline constexpr std::size_t kMaxSize = 57;
inline constexpr std::size_t kMaxOrderLimbs = 7;

/// The clamped scalar modulo n, which has the same multiple of the generator, and the prefix of nonces are
/// secret. The public key is not.
struct ExpandedKey {
  std::array<Limb, kMaxOrderLimbs> scalar;
  std::array<std::uint8_t, kMaxSize> prefix_bytes, public_bytes;
  std::uint8_t size;  ///< bytes of the prefix and of the public key; 0: there is no key

  [[nodiscard]] ByteSpan prefix() const { return ByteSpan(prefix_bytes).first(size); }
  [[nodiscard]] ByteSpan public_key() const { return ByteSpan(public_bytes).first(size); }
};

}  // namespace manymod::ecc::eddsa
