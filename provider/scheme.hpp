// SPDX-License-Identifier: Apache-2.0
// What the parameters of a context of the default provider ask for, in the words of manymod.
#pragma once

#include <openssl/evp.h>

#include <optional>

#include "engine.hpp"
#include "key.hpp"

namespace manymod::provider {

/// manymod's value for a hash function of libcrypto; MM_HASH_NONE if it has none.
mm_hash hash_of(const EVP_MD* hash);
/// The same by a name that the default provider knows.
mm_hash hash_of(const Provider& provider, const std::string& name);

/// What a signature of a digest by this key is, by a context that was initialised for signing.
/// @return nothing for what manymod does not compute
std::optional<Scheme> signature_scheme(const Key& key, EVP_PKEY_CTX* context);
/// What a decryption with an RSA key is, by a context that was initialised for it.
std::optional<Scheme> decryption_scheme(const Key& key, EVP_PKEY_CTX* context);

}  // namespace manymod::provider
