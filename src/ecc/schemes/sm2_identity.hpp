// SPDX-License-Identifier: Apache-2.0
// What SM2 calls Z: the digest of a user's id, the curve and the user's public key (GB/T 32918.2, section
// 5.5).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "crypto/hash.hpp"
#include "ecc/curve.hpp"
#include "repr/bytes.hpp"

namespace manymod::ecc {

using Sm2Digest = std::array<std::uint8_t, 32>;

/// What one thread keeps from one key to the next: for one id, the hash of all that comes before a key, and Z
/// of the last key.
struct Sm2Prefix {
  std::vector<std::uint8_t> id;
  bool begun = false;
  crypto::Hasher before_key{MM_SM3}, hasher{before_key.another()};
  std::array<std::uint8_t, 64> key{};
  std::optional<Sm2Digest> z;
};

class Sm2Identity {
 public:
  explicit Sm2Identity(const Curve& curve);

  /// Z of an id, "1234567812345678" if it is empty, and a key. Keys in a row with one id take two
  /// compressions each, equal ones none, and others four or more. @return false if the id is longer than 8191
  /// bytes
  [[nodiscard]] bool digest(Sm2Digest& z, ByteSpan id, std::span<const Limb> x, std::span<const Limb> y,
                            Sm2Prefix& prefix) const;
  /// What it hashes before the key; empty if the id is longer.
  [[nodiscard]] std::vector<std::uint8_t> before_key(ByteSpan id) const;

 private:
  std::size_t coordinate_;
  std::vector<std::uint8_t> numbers_;  ///< a || b || x of G || y of G
};

}  // namespace manymod::ecc
