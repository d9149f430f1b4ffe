// SPDX-License-Identifier: Apache-2.0
// Keys of libcrypto's making, and its opinion on signatures.
#pragma once

#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "manymod/rsa.hpp"

namespace manymod::bench {

class TimedKey {
 public:
  explicit TimedKey(unsigned bits) : made_(EVP_RSA_gen(bits)) {
    if (!made_) throw std::runtime_error("libcrypto makes no key");
  }

  [[nodiscard]] rsa::Key key() const {
    unsigned char* der = nullptr;
    const int size = i2d_PrivateKey(made_.get(), &der);
    if (size < 0) throw std::runtime_error("libcrypto writes no key");
    const std::string_view encoded(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
    rsa::Key key = rsa::Key::decode(encoded);
    OPENSSL_clear_free(der, encoded.size());
    return key;
  }

  /// Whether it is a PKCS#1 v1.5 (or PSS) signature of the message with SHA-256.
  [[nodiscard]] bool verifies(bool pss, std::span<const std::uint8_t> message,
                              std::span<const std::uint8_t> signature) const {
    const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
    EVP_PKEY_CTX* settings = nullptr;
    if (EVP_DigestVerifyInit(context.get(), &settings, EVP_sha256(), nullptr, made_.get()) != 1) return false;
    const int padding = pss ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING;
    if (EVP_PKEY_CTX_set_rsa_padding(settings, padding) != 1) return false;
    return EVP_DigestVerify(context.get(), signature.data(), signature.size(), message.data(),
                            message.size()) == 1;
  }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_PKEY, Free> made_;
};

/// Made side by side: it takes a while.
inline std::vector<TimedKey> make_keys(unsigned bits, std::size_t count) {
  std::vector<std::future<TimedKey>> making;
  for (std::size_t i = 0; i < count; ++i) {
    making.push_back(std::async(std::launch::async, [bits] { return TimedKey(bits); }));
  }
  std::vector<TimedKey> keys;
  for (std::future<TimedKey>& key : making) keys.push_back(key.get());
  return keys;
}

}  // namespace manymod::bench
