// SPDX-License-Identifier: Apache-2.0
// Smart pointers to objects of libcrypto, and bytes that are zeroed before they are freed.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

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

/// Bytes that may be secret.
class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::size_t size) : bytes_(size) {}
  explicit SecretBytes(std::span<const std::uint8_t> bytes) : bytes_(bytes.begin(), bytes.end()) {}
  explicit SecretBytes(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  SecretBytes(SecretBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SecretBytes() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::uint8_t* data() { return bytes_.data(); }
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.data(); }
  [[nodiscard]] std::span<const std::uint8_t> all() const { return bytes_; }
  /// In: size <= size()
  void shrink(std::size_t size) {
    OPENSSL_cleanse(bytes_.data() + size, bytes_.size() - size);
    bytes_.resize(size);
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace manymod::provider
