// SPDX-License-Identifier: Apache-2.0
// What a client asks manymod-signd for, and what it answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "manymod/bytes.h"

namespace manymod::signd {

/// SHA-256 of the DER of a key's SubjectPublicKeyInfo.
using KeyId = std::array<std::uint8_t, 32>;

/// Operations with a private key. The numbers are those of the protocol.
enum class Operation : std::uint8_t {
  sign_pkcs1 = 0,     ///< RSASSA-PKCS1-v1_5. Input: a digest by `hash`
  sign_pss = 1,       ///< RSASSA-PSS. Input: a digest by `hash`
  decrypt_pkcs1 = 2,  ///< RSAES-PKCS1-v1_5, which rejects implicitly (rsa.h). Input: the ciphertext
  decrypt_oaep = 3,   ///< RSAES-OAEP with an empty label. Input: the ciphertext
  raw = 4,            ///< c^d mod n. Input: c < n of k bytes; output: k bytes
  sign_ecdsa = 5,     ///< Input: a digest by `hash`; output: DER of (r, s)
  sign_eddsa = 6,     ///< Ed25519 and Ed448. Input: the message
  exchange = 7        ///< ECDH, X25519, X448. Input: the other side's point; output: x or u
};
inline constexpr std::size_t kOperations = 8;

/// One operation for a list of them, as access lists have it.
constexpr std::uint32_t bit_of(Operation operation) { return 1U << static_cast<unsigned>(operation); }

/// Outcome of a request. The numbers are those of the protocol.
enum class Status : std::uint8_t {
  ok = 0,
  busy = 1,         ///< a queue is full, or the client asks too often: try again later, or compute elsewhere
  denied = 2,       ///< the key's access list does not allow this user the operation
  unknown_key = 3,  ///< the daemon has no such key (any more)
  unsupported = 4,  ///< the operation does not suit the key, or there is no such hash, salt or mask
  rejected = 5,     ///< the input does not suit: length or range, no point of the curve, no OAEP ciphertext
  expired = 6,      ///< the time of the request had passed before it began
  failed = 7,       ///< the computation failed, as by a fault of the hardware
  /* The client's own. */
  unavailable = 8,  ///< the daemon cannot be reached, or refuses the connection
  cancelled = 9     ///< the client was destroyed
};

/// Salt lengths of sign_pss: these, and the length of the digest as a number.
inline constexpr std::int32_t kSaltDigest = -1;
inline constexpr std::int32_t kSaltNone = 0;
inline constexpr std::int32_t kSaltMax = -3;

/// How a request's result is computed; members that the operation does not use are 0.
struct Scheme {
  Operation operation = Operation::sign_pss;
  mm_hash hash = MM_HASH_NONE;
  mm_hash mgf_hash = MM_HASH_NONE;  ///< MM_HASH_NONE: `hash`. decrypt_oaep: also MM_SHA1
  std::int32_t salt_length = kSaltDigest;
};

}  // namespace manymod::signd
