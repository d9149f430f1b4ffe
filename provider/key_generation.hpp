// SPDX-License-Identifier: Apache-2.0
// Generation of keys: on P-384 by manymod, else by the default provider.
#pragma once

#include <openssl/core_dispatch.h>

#include "key.hpp"

namespace manymod::provider {

class KeyGeneration {
 public:
  /// Null on failure. `selection`: a key pair, or for curves the parameters alone.
  static KeyGeneration* begin(const Provider& provider, Kind kind, int selection,
                              const OSSL_PARAM parameters[]);

  bool set_parameters(const OSSL_PARAM parameters[]);
  /// Generate with the parameters of this key.
  bool set_template(const Key& key);
  /// The new key, which the caller releases; null on failure.
  Key* generate(OSSL_CALLBACK* progress, void* argument);

 private:
  KeyGeneration(const Provider& provider, Kind kind, bool whole_key)
      : provider_(provider), kind_(kind), whole_key_(whole_key) {}

  const Provider& provider_;
  const Kind kind_;
  const bool whole_key_;
  Libcrypto<OSSL_PARAM> given_;  ///< all parameters that were set
  Libcrypto<OSSL_PARAM> of_template_;
  Libcrypto<EVP_PKEY_CTX> context_;

  /// A key pair on P-384, where manymod is faster; null where the default provider is to generate.
  [[nodiscard]] KeyOwner generate_here();
  [[nodiscard]] bool start(Libcrypto<EVP_PKEY_CTX> context);
};

}  // namespace manymod::provider
