// SPDX-License-Identifier: Apache-2.0
// Private keys with what their signatures need besides, which was computed once for many calls
// (ecc/ring.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/copied_items.hpp"
#include "abi/items.hpp"
#include "ecc/curve.hpp"
#include "ecc/schemes/eddsa_key.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc {

/// Keys on any curves. To be filled in by one thread, then sealed, then only read. Zeroed on destruction.
///
/// Where signatures on a key's curve may need the public key, the key has a row, as GPUs take it: of EdDSA
/// the scalar modulo n, as limbs, the prefix and the public key; of others the private key and both
/// coordinates of the public key, big-endian.
class PreparedKeys {
 public:
  /// Copies of `count` private keys, which may have any length. row_bytes: of the longest row, see below.
  PreparedKeys(const ItemsIn& secrets, std::size_t count, std::size_t row_bytes);

  /// The length of rows on a curve; 0 where keys have none.
  [[nodiscard]] static std::size_t row_bytes(const Curve& curve);
  void put(std::size_t key, const eddsa::KeyParts& parts);
  void put_point(std::size_t key, ByteSpan x, ByteSpan y);
  /// Note checksums of all keys. @throws StatusError MM_ERR_CRYPTO
  void seal();

  [[nodiscard]] std::size_t size() const { return secrets_.size(); }
  [[nodiscard]] std::span<const ByteSpan> secrets() const { return secrets_.all(); }
  /// Whether they have one length and follow each other.
  [[nodiscard]] bool are_rows() const { return are_rows_; }
  /// Rows of keys, one after the other.
  [[nodiscard]] ByteRows rows() const;
  /// Of a key on this Edwards curve.
  [[nodiscard]] eddsa::KeyParts parts(std::size_t key, const Curve& curve) const;
  /// Coordinates of a key on this Weierstrass curve.
  [[nodiscard]] ByteSpan x(std::size_t key, const Curve& curve) const;
  [[nodiscard]] ByteSpan y(std::size_t key, const Curve& curve) const;

  /// Whether a key is what it was at seal(); a signature by one that has changed may reveal it. Each error is
  /// missed with a probability of at most 2^-64: the key's words w_i of 64 bits have the checksum k_0 + sum
  /// k_(i+1) w_i modulo 2^128, of which the upper half is kept, for random k_i of 128 bits, which are the
  /// ring's own (Lemire, Kaser, "Strongly universal string hashing is fast", 2014, theorem 3.1).
  /// Constant-time.
  [[nodiscard]] bool is_intact(std::size_t key) const;

 private:
  CopiedItems secrets_;
  bool are_rows_;
  std::size_t row_limbs_;
  SecretArray<Limb> rows_;
  std::vector<std::uint64_t> factors_;    ///< the k_i, two words each
  std::vector<std::uint64_t> checksums_;  ///< of each key

  [[nodiscard]] std::span<std::uint8_t> row(std::size_t key);
  [[nodiscard]] ByteSpan row(std::size_t key) const;
  [[nodiscard]] std::uint64_t checksum(std::size_t key) const;
};

}  // namespace manymod::ecc
