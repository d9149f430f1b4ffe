// SPDX-License-Identifier: Apache-2.0
// Private keys read from tokens by PKCS#11.
#pragma once

#include "common/secret_file.hpp"
#include "server/config.hpp"

namespace manymod::signd {

/// Read a key that its token gives away. @return DER: RSAPrivateKey (RFC 8017) or ECPrivateKey (RFC 5915)
/// @throws std::runtime_error: the module, token or object is not there, or the key may not be read, or this
/// build has no PKCS#11
SecretBytes read_token_key(const TokenConfig& config);

}  // namespace manymod::signd
