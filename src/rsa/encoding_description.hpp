// SPDX-License-Identifier: Apache-2.0
// What an encoding is that holds no RSA key, for the message that refuses it.
#pragma once

#include <openssl/asn1.h>

#include <string>
#include <string_view>

#include "repr/bytes.hpp"

namespace manymod::rsa {

/// "an EC private key, not RSA"
std::string key_not_rsa(const std::string& algorithm, const char* kind);

/// DER of anything but a readable RSA key. Empty if it is nothing known.
std::string describe_der(ByteSpan der);

/// Text or bytes that are neither PEM nor DER.
std::string describe_bytes(std::string_view text);

/// A PEM block by its label alone; empty if its content tells more.
std::string describe_label(std::string_view label);

/// Name of an algorithm, by libcrypto, or its object identifier.
std::string algorithm_name(const ASN1_OBJECT* algorithm);

}  // namespace manymod::rsa
