// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

namespace manymod::provider {

/// The functions of Ed25519's signatures. `messages`: with those that OpenSSL 3.4 has added.
const OSSL_DISPATCH* eddsa_functions(bool messages);

}  // namespace manymod::provider
