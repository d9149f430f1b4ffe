// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

namespace manymod::provider {

/// The functions of Ed25519's signatures.
const OSSL_DISPATCH* eddsa_functions();

}  // namespace manymod::provider
