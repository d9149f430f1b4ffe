// SPDX-License-Identifier: Apache-2.0
// What the parameters of a context of the default provider ask for, in the words of manymod.
#pragma once

#include <openssl/evp.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine.hpp"
#include "key.hpp"

namespace manymod::provider {

/// manymod's value for a hash function of libcrypto; MM_HASH_NONE if it has none.
mm_hash hash_of(const EVP_MD* hash);
/// The same by a name that the default provider knows.
mm_hash hash_of(const Provider& provider, const std::string& name);

/// What manymod computes for a signature.
struct SignatureRequest {
  Scheme scheme{};
  std::vector<std::uint8_t> input;
};

/// What a signature of `data` by this key is, by a context that was initialised for signing: `data` is a
/// digest by the context's hash, or what is signed as it is if there is none.
/// @return nothing for what manymod does not compute
std::optional<SignatureRequest> signature_request(const Key& key, EVP_PKEY_CTX* context,
                                                  std::span<const std::uint8_t> data);
/// What a decryption with an RSA key is, by a context that was initialised for it.
std::optional<Scheme> decryption_scheme(const Key& key, EVP_PKEY_CTX* context);

}  // namespace manymod::provider
