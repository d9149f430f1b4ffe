// SPDX-License-Identifier: Apache-2.0
// The encoding methods of RFC 8017, which pad messages before the power and check and remove padding after
// it.
//
// Encoded messages have k bytes like the modulus, leading zeros included. Functions that remove padding from
// a secret are constant-time: they branch on sizes only, and report validity as a mask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "crypto/hash.hpp"
#include "repr/constant_time.hpp"

namespace manymod::rsa {

// ---- signatures: messages and signatures are public

/// EMSA-PKCS1-v1_5 (section 9.2). @return false if `encoded` is too short for the digest.
bool encode_pkcs1v15_signature(std::span<std::uint8_t> encoded, const crypto::HashFacts& hash,
                               ByteSpan digest);

/// Parameters of EMSA-PSS (section 9.1) for a modulus of `modulus_bits` bits.
struct PssShape {
  std::size_t modulus_bits;
  crypto::Hasher& hash;
  crypto::Hasher& mgf;

  [[nodiscard]] std::size_t encoded_bits() const { return modulus_bits - 1; }
  [[nodiscard]] std::size_t encoded_bytes() const { return (encoded_bits() + 7) / 8; }
  /// Whether a salt of `salt` bytes fits, and the longest salt that does (if fits(0)).
  [[nodiscard]] bool fits(std::size_t salt) const { return encoded_bytes() >= hash.size() + salt + 2; }
  [[nodiscard]] std::size_t longest_salt() const { return encoded_bytes() - hash.size() - 2; }
};

/// EMSA-PSS-ENCODE (section 9.1.1). On input: shape.fits(salt.size()). On output: `encoded`, k bytes.
void encode_pss(std::span<std::uint8_t> encoded, const PssShape& shape, ByteSpan digest, ByteSpan salt);

/// Accepts a salt of any length.
inline constexpr std::size_t kAnySalt = SIZE_MAX;

/// EMSA-PSS-VERIFY (section 9.1.2) for a salt of `salt` bytes, or of any length for kAnySalt, and of at least
/// `least_salt` bytes. Overwrites `encoded`. Timing: variable-time.
bool verify_pss(std::span<std::uint8_t> encoded, const PssShape& shape, ByteSpan digest, std::size_t salt,
                std::size_t least_salt);

// ---- encryption: messages are secret

/// Length of the longest message that fits; negative if not even an empty one does.
std::ptrdiff_t longest_pkcs1v15_message(std::size_t modulus_bytes);
std::ptrdiff_t longest_oaep_message(std::size_t modulus_bytes, std::size_t digest_size);

/// EME-PKCS1-v1_5 encoding (section 7.2.1) with random bytes from libcrypto. On input: the message fits.
/// Timing: constant-time in the message. @throws StatusError MM_ERR_CRYPTO
void encode_pkcs1v15_message(std::span<std::uint8_t> encoded, ByteSpan message);

/// EME-OAEP encoding (section 7.1.1). On input: the message fits; label_digest and seed have the length of a
/// digest. Timing: constant-time in the message and the seed.
void encode_oaep(std::span<std::uint8_t> encoded, ByteSpan message, ByteSpan label_digest, ByteSpan seed,
                 crypto::Hasher& mgf);

/// A decoded message: it lies at the front of the array that held the encoded one, followed by zeros.
struct Decoded {
  constant_time::Mask good;
  std::uint64_t size;
};

/// EME-OAEP decoding (section 7.1.2) in place. On input: k >= 2 digest lengths + 2. If the padding is
/// invalid, good and size are 0 and all bytes are 0. Timing: constant-time in the bytes, the validity and the
/// size.
Decoded decode_oaep(std::span<std::uint8_t> encoded, ByteSpan label_digest, crypto::Hasher& mgf);

/// EME-PKCS1-v1_5 decoding in place with implicit rejection (draft-irtf-cfrg-rsa-guidance, section 7):
/// invalid padding yields a message that is derived from the private exponent and the ciphertext.
///
/// On input: `exponent_digest`: SHA-256 of the private exponent as k bytes; `ciphertext`: k bytes; `hmac`:
/// with SHA-256. On output: the message at the front of `encoded`, zeros behind it. @return its size. Timing:
/// constant-time in the bytes, the validity and the size.
std::uint64_t decode_pkcs1v15_message(std::span<std::uint8_t> encoded, ByteSpan exponent_digest,
                                      ByteSpan ciphertext, crypto::Hmac& hmac);

}  // namespace manymod::rsa
