// SPDX-License-Identifier: Apache-2.0
// The encodings of RFC 8017, which convert between a message and the number that is raised to a power.
//
// Encoded messages have as many bytes as the modulus (k), leading zeros included. Functions that remove
// padding from a secret are constant-time: they branch on sizes alone, and their verdict is a mask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rsa/constant_time.hpp"
#include "rsa/hash.hpp"

namespace manymod::rsa {

// ---- signatures: messages and signatures are public

/// EMSA-PKCS1-v1_5 (section 9.2). Returns false if the message is too short for the digest.
bool encode_pkcs1v15_signature(std::span<std::uint8_t> encoded, const HashFacts& hash, ByteSpan digest);

/// Shape of EMSA-PSS (section 9.1) for a modulus of so many bits.
struct PssShape {
  std::size_t modulus_bits;
  Hasher& hash;
  Hasher& mgf;

  [[nodiscard]] std::size_t encoded_bits() const { return modulus_bits - 1; }
  [[nodiscard]] std::size_t encoded_bytes() const { return (encoded_bits() + 7) / 8; }
  /// Whether a salt of that length fits, and the longest that does.
  [[nodiscard]] bool fits(std::size_t salt) const { return encoded_bytes() >= hash.size() + salt + 2; }
  [[nodiscard]] std::size_t longest_salt() const { return encoded_bytes() - hash.size() - 2; }
};

/// EMSA-PSS-ENCODE. In: shape.fits(salt.size()).
void encode_pss(std::span<std::uint8_t> encoded, const PssShape& shape, ByteSpan digest, ByteSpan salt);

inline constexpr std::size_t kAnySalt = SIZE_MAX;

/// EMSA-PSS-VERIFY for a salt of `salt` bytes or kAnySalt. Destroys `encoded`.
bool verify_pss(std::span<std::uint8_t> encoded, const PssShape& shape, ByteSpan digest, std::size_t salt);

// ---- encryption: messages are secret

/// Message bytes that fit, -1 if not even an empty one does.
std::ptrdiff_t longest_pkcs1v15_message(std::size_t modulus_bytes);
std::ptrdiff_t longest_oaep_message(std::size_t modulus_bytes, std::size_t digest_size);

/// EME-PKCS1-v1_5 (section 7.2.1), random bytes by libcrypto. In: the message fits.
void encode_pkcs1v15_message(std::span<std::uint8_t> encoded, ByteSpan message);

/// EME-OAEP (section 7.1.1). In: the message fits; label_digest and seed have one digest's length.
void encode_oaep(std::span<std::uint8_t> encoded, ByteSpan message, ByteSpan label_digest, ByteSpan seed,
                 Hasher& mgf);

/// A decoded message. It stands at the front of the array that held the encoded one; zeros follow.
struct Decoded {
  constant_time::Mask good;
  std::uint64_t size;
};

/// EME-OAEP decoding (section 7.1.2) in place. In: k >= 2 digests + 2. Where it is not good, size is 0 and
/// all bytes are 0.
Decoded decode_oaep(std::span<std::uint8_t> encoded, ByteSpan label_digest, Hasher& mgf);

/// EME-PKCS1-v1_5 decoding with implicit rejection (draft-irtf-cfrg-rsa-guidance, section 7) in place: where
/// the padding is bad, the result is a synthetic message, which depends on the private exponent and the
/// ciphertext (k bytes) alone. In: exponent_digest is the SHA-256 of the private exponent in k bytes. Returns
/// the message's size. Constant-time.
std::uint64_t decode_pkcs1v15_message(std::span<std::uint8_t> encoded, ByteSpan exponent_digest,
                                      ByteSpan ciphertext, HmacSha256& hmac);

}  // namespace manymod::rsa
