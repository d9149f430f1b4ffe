// SPDX-License-Identifier: Apache-2.0
// Smart pointers to libcrypto objects, and its failures as exceptions.
#pragma once

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <memory>
#include <string>

#include "core/status_error.hpp"

namespace manymod::rsa {

struct FreeLibcrypto {
  void operator()(BIGNUM* number) const { BN_clear_free(number); }
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
  void operator()(EVP_MD* hash) const { EVP_MD_free(hash); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
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

}  // namespace manymod::rsa
