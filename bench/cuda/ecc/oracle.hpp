// SPDX-License-Identifier: Apache-2.0
// Points and signatures by libcrypto, to compare with: for few items, which a batch repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ecc/curve.hpp"

namespace manymod::bench {

/// Items of numbers in rows of little-endian limbs, and what they give.
struct EccItems {
  std::size_t count = 0;
  std::vector<Limb> secret, digest, nonce;  ///< inputs
  std::vector<Limb> public_x, public_y;     ///< secret G
  std::vector<Limb> nonce_x, nonce_y;       ///< nonce G
  std::vector<Limb> shared_x, shared_y;     ///< nonce (secret G)
  std::vector<Limb> two_x, two_y;           ///< secret G + nonce (secret G)
  std::vector<Limb> r, s;                   ///< by `nonce`
  std::vector<Limb> deterministic;          ///< nonces of RFC 6979, where `hash` is not empty
};

/// In: count > 0. @throws std::runtime_error where libcrypto has not got the curve
EccItems ecc_items(const ecc::Curve& curve, std::size_t count, const std::string& hash);

/// The same for Ed25519 and X25519 by scalar CPU code, without signatures; X25519: public_x and shared_x
/// alone.
EccItems ecc_items_25519(const ecc::Curve& curve, std::size_t count);

}  // namespace manymod::bench
