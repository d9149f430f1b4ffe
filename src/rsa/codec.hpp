// SPDX-License-Identifier: Apache-2.0
// Encoding items as numbers and decoding powers to results.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "rsa/call.hpp"
#include "rsa/key.hpp"

namespace manymod::rsa {

/// Encoder and decoder of the items of one call, used by one thread.
class Codec {
 public:
  /// `modulus_bytes`: the largest k of the keys that it is used with. `call` must outlive it.
  Codec(const CheckedCall& call, std::size_t modulus_bytes);
  /// Another one for the same call, for another thread. libcrypto need not find the hashes again, which takes
  /// as long as several digests, and longer while other threads search, too.
  [[nodiscard]] Codec another() const { return {*this, OfOther{}}; }
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  ~Codec();

  /// Encode the input of an item.
  ///
  /// On output: `number`: the number below n whose power is needed, in n's limbs; 0 if the item needs no
  /// power. Timing: constant-time in secret inputs (see rsa.h).
  /// @return MM_ITEM_NOT_COMPUTED if the power is needed, else the item's final status
  mm_status encode(const Key& key, std::size_t item, std::span<Limb> number);

  /// Decode the power of an item and write its result to the call's output or `valid`.
  ///
  /// On input: `number` as encode() set it; `power` < n; both in n's limbs. The ciphertext is taken from the
  /// number: the caller's bytes may no longer be those whose power this is, and a message that depended on
  /// both would tell whether the padding of the power is valid. Timing: constant-time in secret results (see
  /// rsa.h).
  /// @return the item's final status
  mm_status decode(const Key& key, std::size_t item, std::span<const Limb> number,
                   std::span<const Limb> power);

 private:
  struct OfOther {};
  Codec(const Codec& other, OfOther);

  const CheckedCall& checked_;
  std::optional<crypto::Hasher> hash_;
  std::optional<crypto::Hasher> mgf_;
  std::optional<crypto::Hmac> hmac_;  ///< for implicit rejection
  SecretBytes encoded_;
  /// Of its last `drawn_` bytes, which are random, the last `left_` are unused.
  std::array<std::uint8_t, 4096> random_;
  std::size_t left_ = 0, drawn_ = 0;

  // Encoders of the operations, each with the result of encode(). Those that write `encoded` fill k bytes.
  mm_status encode_number(const Key& key, ByteSpan bytes, std::span<Limb> number) const;
  mm_status encode_signature(const Key& key, ByteSpan message, std::span<std::uint8_t> encoded);
  mm_status encode_pss_signature(const Key& key, ByteSpan digest, std::span<std::uint8_t> encoded);
  mm_status encode_message(ByteSpan message, std::span<std::uint8_t> encoded);
  mm_status encode_ciphertext(const Key& key, ByteSpan ciphertext, std::span<Limb> number) const;
  mm_status take_signature(const Key& key, std::size_t item, std::span<Limb> number) const;
  // Whether `encoded`, which it may overwrite, is a valid encoding of the message's digest. Variable-time.
  [[nodiscard]] bool verified(const Key& key, ByteSpan message, std::span<std::uint8_t> encoded);
  // Remove the padding of a decrypted message in place, and write the message. Constant-time until the status
  // is returned.
  mm_status decode_message(const Key& key, std::size_t item, std::span<const Limb> ciphertext,
                           std::span<std::uint8_t> encoded);

  // Whether the key's limits allow the call's operation, padding, hash and salt length. What only the salt of
  // a signature or the key's length tells is not decided here.
  [[nodiscard]] bool allowed_by(const mm_rsa_pss_limits& limits) const;
  // Whether the call is prehashed and the input does not have the length of a digest.
  [[nodiscard]] bool digest_has_wrong_size(ByteSpan message) const;
  // The message's digest: the message itself if the call is prehashed, else bytes in `storage`.
  ByteSpan digest_of(ByteSpan message, std::span<std::uint8_t> storage);
  /// Fresh random bytes for a salt or a seed, which stay until the next call.
  std::span<std::uint8_t> fresh(std::size_t size);
  PssShape pss_shape(const Key& key) { return {key.bits(), *hash_, *mgf_}; }
  // Write all of `bytes`, of which the first `size` are the result, to the output of `item`.
  void write(std::size_t item, ByteSpan bytes, std::size_t size) const;
};

}  // namespace manymod::rsa
