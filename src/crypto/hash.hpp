// SPDX-License-Identifier: Apache-2.0
// Digests and HMAC by libcrypto, and MGF1 (RFC 8017, appendix B.2.1) over the digests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "crypto/libcrypto.hpp"
#include "manymod/bytes.h"
#include "repr/bytes.hpp"

namespace manymod::crypto {

inline constexpr std::size_t kMaxDigest = 64;

using Sha256Digest = std::array<std::uint8_t, 32>;

struct HashFacts {
  mm_hash hash;
  const char* name;  ///< libcrypto's
  std::size_t size;  ///< bytes of a digest
  /// Last number of the object identifier 2.16.840.1.101.3.4.2.x; 0 for SHA-1, which has another.
  std::uint8_t identifier;
  bool extendable = false;  ///< SHAKE, whose output may have any length
};

/// Null for MM_HASH_NONE and for values that name no hash.
const HashFacts* find_hash(const mm_hash& hash);
/// The hash that libcrypto calls `name`; null if there is none.
const HashFacts* find_hash_by_name(const char* name);

/// One hash and a context for it. For use by one thread at a time.
class Hasher {
 public:
  /// On input: find_hash(hash) is not null.
  /// @throws StatusError MM_ERR_CRYPTO if libcrypto does not have it
  explicit Hasher(mm_hash hash);
  /// Another one of the same hash, which is not fetched from libcrypto again: that takes as long as three
  /// short digests.
  [[nodiscard]] Hasher another() const;

  [[nodiscard]] const HashFacts& facts() const { return *facts_; }
  [[nodiscard]] std::size_t size() const { return facts_->size; }
  /// Bytes that the hash compresses at a time.
  [[nodiscard]] std::size_t block_size() const;

  /// digest[0 .. size()) = hash of the parts in a row. A part may overlap the digest.
  void digest(std::span<std::uint8_t> digest, std::span<const ByteSpan> parts);
  void digest(std::span<std::uint8_t> digest, std::initializer_list<ByteSpan> parts);

  /// output = the hash of the parts as long as `output`. On input: facts().extendable.
  void extended_digest(std::span<std::uint8_t> output, std::initializer_list<ByteSpan> parts) {
    fill(output, parts);
  }

  /// Begin a hash with these bytes, for digests that continue it.
  void begin(ByteSpan bytes);
  /// digest[0 .. size()) = hash of what `begun` was begun with and the parts, which may overlap the digest.
  /// On input: a hasher of the same hash, not this one, whose last call was begin().
  void continue_digest(std::span<std::uint8_t> digest, const Hasher& begun,
                       std::initializer_list<ByteSpan> parts);

  /// target ^= MGF1(seed), as long as target; for SHAKE, its output of that length (RFC 8702, section 3.1).
  /// On input: target and seed have at most MM_RSA_MAX_BITS / 8 bytes, and do not overlap.
  void xor_mask(std::span<std::uint8_t> target, ByteSpan seed);

 private:
  Hasher(const HashFacts& facts, Libcrypto<EVP_MD> hash);
  /// output = hash of the parts, as long as `output`: size() bytes unless the hash is extendable.
  void fill(std::span<std::uint8_t> output, std::span<const ByteSpan> parts);
  void start();
  void update(std::span<const ByteSpan> parts);
  void finish(std::span<std::uint8_t> output);

  const HashFacts* facts_;
  Libcrypto<EVP_MD> hash_;
  Libcrypto<EVP_MD_CTX> context_;
  bool started_ = false;
};

/// HMAC (RFC 2104) with any hash but SHAKE, under a key that is set. Constant-time in the values of key and
/// message. For use by one thread at a time. A key is hashed once, however many messages it is for, and a
/// short message takes a third of the time that EVP_MAC takes for it.
class Hmac {
 public:
  explicit Hmac(mm_hash hash);

  [[nodiscard]] std::size_t size() const { return work_.size(); }
  /// On input: key.size() <= the block size.
  void set_key(ByteSpan key);
  /// mac[0 .. size()) = HMAC of the parts in a row, which may overlap it. On input: a key was set.
  void digest(std::span<std::uint8_t> mac, std::initializer_list<ByteSpan> parts);

 private:
  static constexpr std::size_t kMaxBlock = 144;  ///< of SHA3-224

  Hasher work_;
  /// Begun with the padded key: the hash of the message, and that of its digest.
  Hasher inner_, outer_;
  std::size_t block_size_;

  void begin_padded(Hasher& hasher, ByteSpan key, std::uint8_t pad) const;
};

}  // namespace manymod::crypto
