// SPDX-License-Identifier: Apache-2.0
// What an encoding is that holds no key of the kind that is wanted, for the message that refuses it.
#pragma once

#include <openssl/asn1.h>

#include <span>
#include <string>
#include <string_view>

#include "repr/bytes.hpp"

namespace manymod::crypto {

/// The keys that a reader takes, and what messages call them.
struct KeyFamily {
  std::span<const char* const> algorithms;         ///< libcrypto's names
  std::span<const std::string_view> ssh_prefixes;  ///< of the algorithms in OpenSSH's public keys
  std::string_view label;                          ///< of private keys in a PEM block of the family's own
  const char* title;                               ///< "RSA key"
  const char* other;                               ///< "not RSA"
  const char* one;                                 ///< "an RSA key"
};

/// Label of the PEM block of a private key in OpenSSH's format.
inline constexpr std::string_view kOpensshLabel = "OPENSSH PRIVATE KEY";

/// "an EC private key, not RSA"
std::string other_key(const std::string& algorithm, const char* kind, const KeyFamily& family);

/// DER of anything but a readable key of the family. Empty if it is nothing known.
std::string describe_der(ByteSpan der, const KeyFamily& family);

/// Text or bytes that are neither PEM nor DER.
std::string describe_bytes(std::string_view text, const KeyFamily& family);

/// The content of a private key in OpenSSH's format, encrypted or not.
std::string describe_openssh(ByteSpan content);

/// A PEM block by its label alone; empty if its content tells more.
std::string describe_label(std::string_view label);

/// Name of an algorithm, by libcrypto, or its object identifier.
std::string algorithm_name(const ASN1_OBJECT* algorithm);

}  // namespace manymod::crypto
