// SPDX-License-Identifier: Apache-2.0
// Library contexts with and without the provider, keys in them, and signatures by their EVP interface.
#pragma once

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace manymod::test {

using Bytes = std::vector<std::uint8_t>;

struct FreeEvp {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(OSSL_LIB_CTX* library) const { OSSL_LIB_CTX_free(library); }
  void operator()(OSSL_PARAM* parameters) const { OSSL_PARAM_free(parameters); }
  void operator()(OSSL_PROVIDER* provider) const { OSSL_PROVIDER_unload(provider); }
};
template <class T>
using Evp = std::unique_ptr<T, FreeEvp>;

/// Which providers a context has, in the order of their loading.
enum class Order { default_first, manymod_first, default_alone };

/// A library context of its own, that prefers manymod if it has it.
class Library {
 public:
  /// `settings`: lines of the provider's section of the configuration.
  explicit Library(Order order = Order::default_first, const std::string& settings = "");

  [[nodiscard]] OSSL_LIB_CTX* get() const { return library_.get(); }
  /// Private operations that manymod has computed.
  [[nodiscard]] std::size_t computed() const { return count("computed"); }
  /// Signatures that it has verified.
  [[nodiscard]] std::size_t verified() const { return count("verified"); }

  /// A key from PEM, private or public; null if there is none. libcrypto's decoders leave keys with the
  /// provider that decoded them, which they are moved from.
  [[nodiscard]] Evp<EVP_PKEY> decode(const std::string& pem) const;
  [[nodiscard]] Evp<EVP_PKEY_CTX> context(EVP_PKEY* key) const;

 private:
  [[nodiscard]] std::size_t count(const char* name) const;

  Evp<OSSL_LIB_CTX> library_;
  Evp<OSSL_PROVIDER> default_, manymod_;
};

/// A context with the default provider alone, for keys and for the verification of what manymod computed.
const Library& reference();

/// PEM of a key: "RSA:2048" and "RSA:3072" of the folder keys, "EC:P-256" and other curves and "ED25519" new,
/// but the same each time.
const std::string& private_pem(const std::string& kind);
std::string to_pem(EVP_PKEY* key, bool private_too);
std::string public_pem(const std::string& private_pem);

/// Whether libcrypto is of this version or newer.
bool is_at_least(unsigned major, unsigned minor);

/// The provider that manages a key.
std::string provider_of(EVP_PKEY* key);

/// Parameters of a signature, by name: strings, and numbers where the text is one.
using Settings = std::vector<std::pair<std::string, std::string>>;
bool set_parameters(EVP_PKEY_CTX* context, const Settings& settings);

/// Signature of a digest, of a message, and of a message in parts; empty on failure.
Bytes sign_digest(const Library& library, EVP_PKEY* key, const Bytes& digest, const Settings& settings);
Bytes sign_message(const Library& library, EVP_PKEY* key, const char* hash, const Bytes& message,
                   const Settings& settings, std::size_t parts);
/// 1: valid
int verify_digest(const Library& library, EVP_PKEY* key, const Bytes& digest, const Bytes& signature,
                  const Settings& settings);
int verify_message(const Library& library, EVP_PKEY* key, const char* hash, const Bytes& message,
                   const Bytes& signature, const Settings& settings);

}  // namespace manymod::test
