// SPDX-License-Identifier: Apache-2.0
// Smart pointers to libcrypto objects, and its failures as exceptions.
#pragma once

#include <openssl/bn.h>
#include <openssl/decoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "core/status_error.hpp"

namespace manymod::crypto {

struct FreeLibcrypto {
  void operator()(BIGNUM* number) const { BN_clear_free(number); }
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
  void operator()(EVP_MD* hash) const { EVP_MD_free(hash); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
  void operator()(OSSL_DECODER_CTX* context) const { OSSL_DECODER_CTX_free(context); }
  void operator()(PBE2PARAM* parameters) const { PBE2PARAM_free(parameters); }
  void operator()(PKCS8_PRIV_KEY_INFO* info) const { PKCS8_PRIV_KEY_INFO_free(info); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_PUBKEY* key) const { X509_PUBKEY_free(key); }
  void operator()(X509_SIG* encrypted) const { X509_SIG_free(encrypted); }
};
template <class T>
using Libcrypto = std::unique_ptr<T, FreeLibcrypto>;

using Number = Libcrypto<BIGNUM>;  ///< zeroed on destruction

/// Check the outcome of a libcrypto function. @throws StatusError MM_ERR_CRYPTO unless `done`
inline void require_crypto(bool done, const char* function) {
  if (!done) throw StatusError(MM_ERR_CRYPTO, std::string("libcrypto failed: ") + function);
}

/// Removes the errors that libcrypto adds to the thread's error queue during its lifetime, as the queue
/// belongs to the application.
class QuietErrors {
 public:
  QuietErrors() { ERR_set_mark(); }
  ~QuietErrors() { ERR_pop_to_mark(); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
};

}  // namespace manymod::crypto
