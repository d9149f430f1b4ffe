// SPDX-License-Identifier: Apache-2.0
// Smart pointers to objects of libcrypto.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <memory>

namespace manymod::provider {

struct FreeLibcrypto {
  void operator()(BIGNUM* number) const { BN_clear_free(number); }
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
  void operator()(EC_GROUP* group) const { EC_GROUP_free(group); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_KEYMGMT* management) const { EVP_KEYMGMT_free(management); }
  void operator()(EVP_MD* hash) const { EVP_MD_free(hash); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(OSSL_LIB_CTX* library) const { OSSL_LIB_CTX_free(library); }
  void operator()(OSSL_PARAM* parameters) const { OSSL_PARAM_free(parameters); }
};
template <class T>
using Libcrypto = std::unique_ptr<T, FreeLibcrypto>;

}  // namespace manymod::provider
