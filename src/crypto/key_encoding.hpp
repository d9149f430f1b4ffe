// SPDX-License-Identifier: Apache-2.0
// Keys from PEM and DER, parsed by libcrypto: of any family of algorithms, private, public, encrypted, and in
// certificates.
#pragma once

#include <cstdint>
#include <string>

#include "crypto/encoding_description.hpp"
#include "crypto/libcrypto.hpp"
#include "manymod/bytes.h"

namespace manymod::crypto {

using Pkey = Libcrypto<EVP_PKEY>;

/// Which key of an encoding that may hold several.
enum class WantedKey : std::uint8_t {
  any,          ///< the first private key, else the first public key or certificate
  private_,     ///< the first private key
  public_,      ///< the first public key or certificate
  public_first  ///< the same, else the first private key
};

struct DecodedKey {
  Pkey key;  ///< never null
  bool is_private = false;
};

/// @throws StatusError MM_ERR_KEY, with a message that says what was found instead; MM_ERR_NULL,
/// MM_ERR_CRYPTO
DecodedKey decode_key(const mm_bytes& encoded, const mm_bytes& password, WantedKey wanted,
                      const KeyFamily& family);

/// @throws StatusError MM_ERR_KEY with that problem. Messages are ASCII, whatever the labels and names of
/// ciphers are that they repeat.
[[noreturn]] void reject_key(std::string problem, const KeyFamily& family);

/// The number that libcrypto gives for the name of a parameter; null if the key does not have it.
Number number_of(const EVP_PKEY* key, const std::string& name);

}  // namespace manymod::crypto
