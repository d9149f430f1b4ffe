// SPDX-License-Identifier: Apache-2.0
// The parameters of keys that are imported and exported, and reading of parameters.
#pragma once

#include <openssl/params.h>

#include <string>
#include <string_view>

#include "key.hpp"

namespace manymod::provider {

/// What keys of a kind consist of.
const OSSL_PARAM* key_parameters(Kind kind);

/// Whether two names of algorithms or groups are one, as libcrypto compares them: by ASCII, without regard to
/// case. OpenSSL 3.0.2 of Ubuntu 22.04 lacks its own function for it, which came with 3.0.3.
bool is_same_name(std::string_view a, std::string_view b);

/// A parameter of a context of the default provider; "" or `otherwise` if it has none.
std::string text_of(EVP_PKEY_CTX* context, const char* name);
int number_of(EVP_PKEY_CTX* context, const char* name, int otherwise);

}  // namespace manymod::provider
