// SPDX-License-Identifier: Apache-2.0
// Keys whose operations are computed by manymod-signd.
#pragma once

#include <memory>
#include <span>

#include "engine.hpp"
#include "provider.hpp"

namespace manymod::provider {

/// The daemon's key with this SubjectPublicKeyInfo (DER). The daemon is not asked before the first operation.
std::unique_ptr<PrivateKey> make_daemon_key(const Provider& provider,
                                            std::span<const std::uint8_t> subject_public_key_info);
/// The daemon's key with the public key of `key`. @return null if that has no encoding
std::unique_ptr<PrivateKey> make_daemon_key(const Provider& provider, EVP_PKEY* key);

}  // namespace manymod::provider
