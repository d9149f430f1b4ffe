// SPDX-License-Identifier: Apache-2.0
// Items to numbers and powers to results, for one thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "rsa/call.hpp"
#include "rsa/key.hpp"

namespace manymod::rsa {

class Codec {
 public:
  /// `modulus_bytes`: the largest k that it will see.
  Codec(const CheckedCall& call, std::size_t modulus_bytes);

  /// The number that an item is raised as. Where the item has a status other than MM_OK, or is settled
  /// without a power, the number is 0.
  /// @return MM_ITEM_NOT_COMPUTED: its power is needed; else the item's final status
  mm_status encode(const Key& key, std::size_t item, std::span<Limb> number);

  /// Write what the power means.
  /// @return the item's final status
  mm_status decode(const Key& key, std::size_t item, std::span<const Limb> power);

 private:
  const CheckedCall& checked_;
  std::optional<Hasher> hash_;
  std::optional<Hasher> mgf_;
  std::optional<HmacSha256> hmac_;  ///< of implicit rejection
  SecretBytes encoded_;
  std::array<std::uint8_t, 4096> salts_;  ///< drawn and not yet used: the last `salts_left_`
  std::size_t salts_left_ = 0, salts_drawn_ = 0;

  mm_status encode_number(const Key& key, ByteSpan bytes, std::span<Limb> number) const;
  mm_status encode_signature(const Key& key, ByteSpan message, std::span<std::uint8_t> encoded);
  mm_status encode_pss_signature(const Key& key, ByteSpan digest, std::span<std::uint8_t> encoded);
  mm_status encode_message(ByteSpan message, std::span<std::uint8_t> encoded);
  mm_status encode_ciphertext(const Key& key, ByteSpan ciphertext, std::span<Limb> number) const;
  mm_status take_signature(const Key& key, std::size_t item, std::span<Limb> number) const;
  [[nodiscard]] bool verified(const Key& key, ByteSpan message, std::span<std::uint8_t> encoded);
  mm_status decode_message(const Key& key, std::size_t item, std::span<std::uint8_t> encoded);

  [[nodiscard]] bool digest_has_wrong_size(ByteSpan message) const;
  ByteSpan digest_of(ByteSpan message, std::span<std::uint8_t> storage);
  /// A fresh salt, valid until the next one.
  ByteSpan salt(std::size_t size);
  PssShape pss_shape(const Key& key) { return {key.bits(), *hash_, *mgf_}; }
  void write(std::size_t item, ByteSpan bytes, std::size_t size) const;
};

}  // namespace manymod::rsa
