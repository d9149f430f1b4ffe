// SPDX-License-Identifier: Apache-2.0
// The parameters of keys that are imported and exported, and reading of parameters.
#pragma once

#include <openssl/params.h>

#include <string>

#include "key.hpp"

namespace manymod::provider {

/// What keys of a kind consist of.
const OSSL_PARAM* key_parameters(Kind kind);

/// A parameter of a context of the default provider; "" or `otherwise` if it has none.
std::string text_of(EVP_PKEY_CTX* context, const char* name);
int number_of(EVP_PKEY_CTX* context, const char* name, int otherwise);

}  // namespace manymod::provider
