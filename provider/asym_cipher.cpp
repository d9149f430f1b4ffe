// SPDX-License-Identifier: Apache-2.0
// ASYM_CIPHER (provider-asym_cipher(7)): RSA encryption, which the default provider computes, and decryption.
// A context of the default provider, for that provider's key, has all parameters.
#include <openssl/core_names.h>
#include <openssl/prov_ssl.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <stdexcept>

#include "compute.hpp"
#include "key.hpp"
#include "parameters.hpp"
#include "scheme.hpp"
#include "tls_premaster.hpp"

namespace manymod::provider {
namespace {

/// How a context of libcrypto begins an operation.
using Begin = int (*)(EVP_PKEY_CTX*, const OSSL_PARAM[]);

class Cipher {
 public:
  explicit Cipher(const Provider& provider) : provider_(provider) {}

  [[nodiscard]] const Provider& provider() const { return provider_; }

  bool begin(Key* key, Begin start, const OSSL_PARAM parameters[]) {
    if (key != nullptr) key_ = KeyReference(key);
    if (!key_ || key_->delegate() == nullptr) throw std::runtime_error("there is no key");
    context_.reset(EVP_PKEY_CTX_new_from_pkey(provider_.library(), key_->delegate(), kDelegate));
    return context_ != nullptr && start(context_.get(), parameters) > 0;
  }

  [[nodiscard]] std::unique_ptr<Cipher> duplicate() const {
    auto copy = std::make_unique<Cipher>(provider_);
    copy->key_ = key_;
    if (context_ != nullptr) {
      copy->context_.reset(EVP_PKEY_CTX_dup(context_.get()));
      if (copy->context_ == nullptr) return nullptr;
    }
    return copy;
  }

  bool encrypt(unsigned char* out, std::size_t* size, std::size_t room, std::span<const std::uint8_t> in) {
    *size = room;
    return context_ != nullptr && EVP_PKEY_encrypt(context_.get(), out, size, in.data(), in.size()) > 0;
  }

  bool decrypt(unsigned char* out, std::size_t* size, std::size_t room, std::span<const std::uint8_t> in) {
    if (context_ == nullptr) return false;
    // The room that every message fits into. Whether a buffer is too small must not depend on this message:
    // its length is secret if the padding is invalid.
    std::size_t needed = 0;
    if (EVP_PKEY_decrypt(context_.get(), nullptr, &needed, in.data(), in.size()) <= 0) return false;
    if (out == nullptr) {
      *size = needed;
      return true;
    }
    if (room < needed) throw std::runtime_error("the buffer for the message is too small");
    const ActiveRequest active(*key_.get());
    if (const std::optional<SecretBytes> message = computed(active, in)) {
      return deliver(*message, out, size);
    }
    *size = room;
    return EVP_PKEY_decrypt(context_.get(), out, size, in.data(), in.size()) > 0;
  }

  /// The context of the default provider; null before begin().
  [[nodiscard]] EVP_PKEY_CTX* context() const { return context_.get(); }

 private:
  const Provider& provider_;
  KeyReference key_;
  Libcrypto<EVP_PKEY_CTX> context_;

  [[nodiscard]] std::optional<SecretBytes> computed(const ActiveRequest& active,
                                                    std::span<const std::uint8_t> ciphertext) {
    std::optional<Scheme> scheme = decryption_scheme(*key_.get(), context_.get());
    if (scheme && scheme->operation == Operation::decrypt_oaep && has_label()) scheme.reset();
    if (scheme) return compute(active, {*scheme, ciphertext, reports_padding()});
    if (key_->is_reference()) throw std::runtime_error("manymod-signd does not offer this decryption");
    return std::nullopt;
  }

  /// Whether the default provider reports invalid PKCS#1 v1.5 padding, which makes Bleichenbacher's attack
  /// possible. OpenSSL 3.2 and newer reject it implicitly instead, and so do older versions into which
  /// distributions have ported that; all of these have the parameter "implicit-rejection".
  [[nodiscard]] bool reports_padding() const {
    if (number_of(context_.get(), OSSL_ASYM_CIPHER_PARAM_PAD_MODE, 0) != RSA_PKCS1_PADDING) return false;
    const OSSL_PARAM* const known = EVP_PKEY_CTX_settable_params(context_.get());
    return known == nullptr || OSSL_PARAM_locate_const(known, "implicit-rejection") == nullptr;
  }

  [[nodiscard]] bool has_label() const {
    void* label = nullptr;
    OSSL_PARAM parameters[] = {OSSL_PARAM_construct_octet_ptr(OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL, &label, 0),
                               OSSL_PARAM_construct_end()};
    return EVP_PKEY_CTX_get_params(context_.get(), parameters) > 0 && parameters[0].return_size != 0 &&
           parameters[0].return_size != OSSL_PARAM_UNMODIFIED;
  }

  /// On input: out has the room that decrypt() asks for.
  bool deliver(const SecretBytes& message, unsigned char* out, std::size_t* size) {
    if (number_of(context_.get(), OSSL_ASYM_CIPHER_PARAM_PAD_MODE, 0) == RSA_PKCS1_WITH_TLS_PADDING) {
      const TlsVersions versions{
          static_cast<unsigned>(number_of(context_.get(), OSSL_ASYM_CIPHER_PARAM_TLS_CLIENT_VERSION, 0)),
          static_cast<unsigned>(number_of(context_.get(), OSSL_ASYM_CIPHER_PARAM_TLS_NEGOTIATED_VERSION, 0))};
      std::array<std::uint8_t, kPremasterBytes> random{};
      if (RAND_priv_bytes_ex(provider_.library(), random.data(), random.size(), 0) <= 0) return false;
      select_premaster(message.span(), versions, random,
                       std::span<std::uint8_t, kPremasterBytes>(out, kPremasterBytes));
      OPENSSL_cleanse(random.data(), random.size());
      *size = kPremasterBytes;
      return true;
    }
    std::copy_n(message.data(), message.size(), out);
    *size = message.size();
    return true;
  }
};

Cipher& self(void* context) { return *static_cast<Cipher*>(context); }

void* create_cipher(void* context) { return new (std::nothrow) Cipher(provider_of(context)); }

void destroy_cipher(void* context) { delete static_cast<Cipher*>(context); }

void* duplicate_cipher(void* context) {
  return guarded(self(context).provider(), [&]() -> void* { return self(context).duplicate().release(); });
}

template <Begin kBegin>
int begin_cipher(void* context, void* key, const OSSL_PARAM parameters[]) {
  return guarded(self(context).provider(),
                 [&] { return self(context).begin(static_cast<Key*>(key), kBegin, parameters) ? 1 : 0; });
}

template <bool (Cipher::*kRun)(unsigned char*, std::size_t*, std::size_t, std::span<const std::uint8_t>)>
int run_cipher(void* context, unsigned char* out, std::size_t* size, std::size_t room,
               const unsigned char* in, std::size_t in_size) {
  return guarded(self(context).provider(),
                 [&] { return (self(context).*kRun)(out, size, room, {in, in_size}) ? 1 : 0; });
}

int get_cipher_params(void* context, OSSL_PARAM parameters[]) {
  EVP_PKEY_CTX* const own = self(context).context();
  return own != nullptr && EVP_PKEY_CTX_get_params(own, parameters) > 0 ? 1 : 0;
}

int set_cipher_params(void* context, const OSSL_PARAM parameters[]) {
  EVP_PKEY_CTX* const own = self(context).context();
  if (parameters == nullptr || parameters->key == nullptr) return 1;
  return own != nullptr && EVP_PKEY_CTX_set_params(own, parameters) > 0 ? 1 : 0;
}

const OSSL_PARAM* gettable_cipher_params(void* context, void*) {
  EVP_PKEY_CTX* const own = context == nullptr ? nullptr : self(context).context();
  return own == nullptr ? nullptr : EVP_PKEY_CTX_gettable_params(own);
}

const OSSL_PARAM* settable_cipher_params(void* context, void*) {
  EVP_PKEY_CTX* const own = context == nullptr ? nullptr : self(context).context();
  return own == nullptr ? nullptr : EVP_PKEY_CTX_settable_params(own);
}

const OSSL_DISPATCH kCipherFunctions[] = {
    entry(OSSL_FUNC_ASYM_CIPHER_NEWCTX, create_cipher),
    entry(OSSL_FUNC_ASYM_CIPHER_FREECTX, destroy_cipher),
    entry(OSSL_FUNC_ASYM_CIPHER_DUPCTX, duplicate_cipher),
    entry(OSSL_FUNC_ASYM_CIPHER_ENCRYPT_INIT, begin_cipher<EVP_PKEY_encrypt_init_ex>),
    entry(OSSL_FUNC_ASYM_CIPHER_ENCRYPT, run_cipher<&Cipher::encrypt>),
    entry(OSSL_FUNC_ASYM_CIPHER_DECRYPT_INIT, begin_cipher<EVP_PKEY_decrypt_init_ex>),
    entry(OSSL_FUNC_ASYM_CIPHER_DECRYPT, run_cipher<&Cipher::decrypt>),
    entry(OSSL_FUNC_ASYM_CIPHER_GET_CTX_PARAMS, get_cipher_params),
    entry(OSSL_FUNC_ASYM_CIPHER_GETTABLE_CTX_PARAMS, gettable_cipher_params),
    entry(OSSL_FUNC_ASYM_CIPHER_SET_CTX_PARAMS, set_cipher_params),
    entry(OSSL_FUNC_ASYM_CIPHER_SETTABLE_CTX_PARAMS, settable_cipher_params),
    {0, nullptr}};

}  // namespace

std::span<const Algorithm> asymmetric_ciphers() {
  static const Algorithm all[] = {{"RSA",
                                   {"RSA:rsaEncryption:1.2.840.113549.1.1.1", MANYMOD_PROVIDER_PROPERTIES,
                                    kCipherFunctions, "RSA encryption by manymod"}}};
  return all;
}

}  // namespace manymod::provider
