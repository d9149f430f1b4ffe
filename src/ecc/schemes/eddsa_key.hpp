// SPDX-License-Identifier: Apache-2.0
// What signing by EdDSA needs of a private key (RFC 8032, sections 5.1.5 and 5.2.5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/limb.hpp"
#include "repr/bytes.hpp"

namespace manymod::ecc::eddsa {

/// Bytes of keys and points, and limbs of the order, of Ed448; Ed25519 has fewer.
inline constexpr std::size_t kMaxSize = 57;
inline constexpr std::size_t kMaxOrderLimbs = 7;

/// The clamped scalar modulo n, which has the same multiple of the generator, and the prefix of nonces are
/// secret. The public key is not.
struct KeyParts {
  std::span<const Limb> scalar;
  ByteSpan prefix, public_key;
};

/// Room for these parts.
struct ExpandedKey {
  std::array<Limb, kMaxOrderLimbs> scalar;
  std::array<std::uint8_t, kMaxSize> prefix, public_key;

  /// On input: the lengths of the curve.
  [[nodiscard]] KeyParts parts(std::size_t limbs, std::size_t size) const {
    return {std::span(scalar).first(limbs), ByteSpan(prefix).first(size), ByteSpan(public_key).first(size)};
  }
};

}  // namespace manymod::ecc::eddsa
