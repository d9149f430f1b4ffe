// SPDX-License-Identifier: Apache-2.0
// Keys from PEM and DER, parsed by libcrypto: of any family of algorithms, private, public, encrypted, and in
// certificates.
#pragma once

#include <cstdint>
#include <string>

#include "core/status_error.hpp"
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

/// Why an encoding has no key that could be read, where callers may know another way to read it.
enum class Unread : std::uint8_t {
  other,      ///< only the message tells
  openssh,    ///< what should be the key has OpenSSH's format
  encryption  ///< it has an encryption that libcrypto does not provide
};

/// MM_ERR_KEY for an encoding of which no key could be read, as opposed to a key that was read and is
/// refused.
class UnreadKeyError : public StatusError {
 public:
  UnreadKeyError(const std::string& message, Unread reason, const mm_bytes& part)
      : StatusError(MM_ERR_KEY, message), reason_(reason), part_(part) {}

  [[nodiscard]] Unread reason() const { return reason_; }
  /// What the reason is about: a block of the encoding, or all of it.
  [[nodiscard]] const mm_bytes& part() const { return part_; }

 private:
  Unread reason_;
  mm_bytes part_;
};

/// @throws UnreadKeyError with a message that says what was found instead; StatusError MM_ERR_NULL,
/// MM_ERR_CRYPTO
DecodedKey decode_key(const mm_bytes& encoded, const mm_bytes& password, WantedKey wanted,
                      const KeyFamily& family);

/// Refuse a key that was read. @throws StatusError MM_ERR_KEY with that problem. Messages are ASCII, whatever
/// the labels and names of ciphers are that they repeat.
[[noreturn]] void reject_key(std::string problem, const KeyFamily& family);

/// The number that libcrypto gives for the name of a parameter; null if the key does not have it.
Number number_of(const EVP_PKEY* key, const std::string& name);

}  // namespace manymod::crypto
