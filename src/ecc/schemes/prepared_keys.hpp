// SPDX-License-Identifier: Apache-2.0
// Private keys with what their signatures need besides, which was computed once for many calls
// (ecc/ring.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/items.hpp"
#include "ecc/schemes/eddsa_key.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc {

/// Keys on any curves. To be filled in by one thread, then sealed, then only read. Zeroed on destruction.
class PreparedKeys {
 public:
  /// Copies of `count` private keys, which may have any length. `limbs`: of the longest coordinate.
  PreparedKeys(const ItemsIn& secrets, std::size_t count, std::size_t limbs);

  [[nodiscard]] std::size_t size() const { return secrets_.size(); }
  [[nodiscard]] std::span<const ByteSpan> secrets() const { return secrets_; }

  /// The coordinates of the public key on a Weierstrass curve.
  [[nodiscard]] Limb* x(std::size_t key) { return &coordinates_[2 * key * limbs_]; }
  [[nodiscard]] Limb* y(std::size_t key) { return &coordinates_[(2 * key + 1) * limbs_]; }
  [[nodiscard]] const Limb* x(std::size_t key) const { return &coordinates_[2 * key * limbs_]; }
  [[nodiscard]] const Limb* y(std::size_t key) const { return &coordinates_[(2 * key + 1) * limbs_]; }

  /// A key of EdDSA; its size is 0 for others.
  [[nodiscard]] eddsa::ExpandedKey& expanded(std::size_t key) { return expanded_[key]; }
  [[nodiscard]] const eddsa::ExpandedKey& expanded(std::size_t key) const { return expanded_[key]; }

  /// Bytes of a row for GPUs on curves of 256 bits.
  static constexpr std::size_t kRowBytes = 96;
  /// Writes such a row: of EdDSA the scalar modulo n (little-endian), the prefix and the public key, 32 bytes
  /// each; of others the private key and the coordinates of the public key (big-endian).
  void write_row(std::span<std::uint8_t, kRowBytes> row, std::size_t key) const;

  /// Note checksums of all keys.
  void seal();
  /// Whether no byte of a key has changed since seal(). An error within 8 bytes is always found, others but
  /// for one in 2^64. A signature by a key that has changed may reveal it. Constant-time in the key; that it
  /// has changed is public.
  [[nodiscard]] bool is_intact(std::size_t key) const;

 private:
  SecretBytes bytes_;              ///< of all secrets
  std::vector<ByteSpan> secrets_;  ///< parts of bytes_
  std::size_t limbs_;
  std::vector<Limb> coordinates_;
  SecretArray<eddsa::ExpandedKey> expanded_;
  std::vector<std::uint64_t> checksums_;

  [[nodiscard]] std::uint64_t checksum(std::size_t key) const;
};

}  // namespace manymod::ecc
