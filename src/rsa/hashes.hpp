// SPDX-License-Identifier: Apache-2.0
// The hash functions that RFC 8017 and RFC 8702 give to RSA.
#pragma once

#include "abi/enum_value.hpp"
#include "crypto/hash.hpp"

namespace manymod::rsa {

/// Null for MM_HASH_NONE, for values that name no hash, and for SM3, which has no encoding for RSA.
inline const crypto::HashFacts* find_rsa_hash(const mm_hash& hash) {
  return enum_value(hash) == MM_SM3 ? nullptr : crypto::find_hash(hash);
}

}  // namespace manymod::rsa
