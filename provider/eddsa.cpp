// SPDX-License-Identifier: Apache-2.0
// SIGNATURE (provider-signature(7)): Ed25519, which signs whole messages.
#include <openssl/core_names.h>

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>

#include "compute.hpp"
#include "eddsa.hpp"
#include "key.hpp"
#include "verify.hpp"

namespace manymod::provider {
namespace {

constexpr std::size_t kSignatureBytes = 64;

/// Functions of OpenSSL 3.4 and newer (provider-signature(7)), which older headers do not have.
constexpr int kQueryKeyTypes = 26;      // OSSL_FUNC_SIGNATURE_QUERY_KEY_TYPES
constexpr int kSignMessageInit = 27;    // OSSL_FUNC_SIGNATURE_SIGN_MESSAGE_INIT
constexpr int kVerifyMessageInit = 30;  // OSSL_FUNC_SIGNATURE_VERIFY_MESSAGE_INIT

/// How a hash context of libcrypto begins an operation.
using Begin = int (*)(EVP_MD_CTX*, EVP_PKEY_CTX**, const char*, OSSL_LIB_CTX*, const char*, EVP_PKEY*,
                      const OSSL_PARAM[]);
/// How a key's context begins one on what was hashed before.
using BeginHashed = int (*)(EVP_PKEY_CTX*, const OSSL_PARAM[]);

class Eddsa {
 public:
  explicit Eddsa(const Provider& provider) : provider_(provider) {}

  [[nodiscard]] const Provider& provider() const { return provider_; }

  bool begin(Key* key, Begin start, const char* hash, const OSSL_PARAM parameters[]) {
    // The same operation with the same key again keeps its instance.
    const bool again = key == nullptr && context_ != nullptr;
    const bool without_parameters = parameters == nullptr || parameters->key == nullptr;
    plain_ = without_parameters && (plain_ || !again);
    if (!again) {
      take_key(key);
      context_.reset(EVP_MD_CTX_new());
    }
    return context_ != nullptr && start(context_.get(), nullptr, hash, provider_.library(), kDelegate,
                                        again ? nullptr : key_->delegate(), parameters) > 0;
  }

  /// The same where the instance is Ed25519, whatever parameters say.
  bool begin_message(Key* key, Begin start, const OSSL_PARAM parameters[]) {
    if (has_instance(parameters) || !begin(key, start, nullptr, parameters)) return false;
    return fixed_ = true;
  }

  /// An operation on what the caller has hashed, which is that of Ed25519ph (RFC 8032, section 5.1) once the
  /// parameters say so, and none before: the default provider's.
  bool begin_hashed(Key* key, BeginHashed start, const OSSL_PARAM parameters[]) {
    take_key(key);
    hashed_.reset(EVP_PKEY_CTX_new_from_pkey(provider_.library(), key_->delegate(), kDelegate));
    return hashed_ != nullptr && start(hashed_.get(), parameters) > 0;
  }

  [[nodiscard]] std::unique_ptr<Eddsa> duplicate() const {
    auto copy = std::make_unique<Eddsa>(provider_);
    copy->key_ = key_;
    copy->plain_ = plain_;
    copy->fixed_ = fixed_;
    if (context_ != nullptr) {
      copy->context_ = copy_of_context();
      if (copy->context_ == nullptr) return nullptr;
    }
    if (hashed_ != nullptr) {
      copy->hashed_.reset(EVP_PKEY_CTX_dup(hashed_.get()));
      if (copy->hashed_ == nullptr) return nullptr;
    }
    return copy;
  }

  bool sign(unsigned char* signature, std::size_t* size, std::size_t room,
            std::span<const std::uint8_t> message) {
    if (context() == nullptr) return false;
    if (signature == nullptr) {
      *size = kSignatureBytes;
      return true;
    }
    if (hashed_ != nullptr) {
      if (key_->is_reference()) throw std::runtime_error("manymod-signd does not offer this signature");
      *size = room;
      return EVP_PKEY_sign(hashed_.get(), signature, size, message.data(), message.size()) > 0;
    }
    const ActiveRequest active(*key_.get());
    if (const std::optional<SecretBytes> made = computed(active, message)) {
      if (made->size() > room) throw std::runtime_error("the buffer for the signature is too small");
      std::copy_n(made->data(), made->size(), signature);
      *size = made->size();
      return true;
    }
    *size = room;
    return finish([&](EVP_MD_CTX* context) {
             return EVP_DigestSign(context, signature, size, message.data(), message.size());
           }) > 0;
  }

  int verify(std::span<const std::uint8_t> signature, std::span<const std::uint8_t> message) {
    if (hashed_ != nullptr) {
      return EVP_PKEY_verify(hashed_.get(), signature.data(), signature.size(), message.data(),
                             message.size());
    }
    if (context_ == nullptr) return 0;
    if (plain_) {
      if (const std::optional<bool> valid = verified_here(*key_.get(), signature, message)) {
        return *valid ? 1 : 0;
      }
    }
    return finish([&](EVP_MD_CTX* context) {
      return EVP_DigestVerify(context, signature.data(), signature.size(), message.data(), message.size());
    });
  }

  /// The context of the default provider; null before begin().
  [[nodiscard]] EVP_PKEY_CTX* context() const {
    if (hashed_ != nullptr) return hashed_.get();
    return context_ == nullptr ? nullptr : EVP_MD_CTX_get_pkey_ctx(context_.get());
  }
  /// Parameters, such as those of Ed25519ctx, that only the default provider computes with.
  bool set(const OSSL_PARAM parameters[]) {
    if (parameters == nullptr || parameters->key == nullptr) return true;
    if (context() == nullptr || (fixed_ && has_instance(parameters))) return false;
    plain_ = false;
    return EVP_PKEY_CTX_set_params(context(), parameters) > 0;
  }

 private:
  const Provider& provider_;
  KeyReference key_;
  bool plain_ = true;               ///< without parameters
  bool fixed_ = false;              ///< parameters may not name an instance
  Libcrypto<EVP_MD_CTX> context_;   ///< of a message, or
  Libcrypto<EVP_PKEY_CTX> hashed_;  ///< of what was hashed before

  /// For an operation that begins; null: the key of the one before.
  void take_key(Key* key) {
    if (key != nullptr) key_ = KeyReference(key);
    if (!key_ || key_->delegate() == nullptr) throw std::runtime_error("there is no key");
    fixed_ = false;
    context_.reset();
    hashed_.reset();
  }

  /// null on failure
  [[nodiscard]] Libcrypto<EVP_MD_CTX> copy_of_context() const {
    Libcrypto<EVP_MD_CTX> copy(EVP_MD_CTX_new());
    if (copy == nullptr || EVP_MD_CTX_copy_ex(copy.get(), context_.get()) <= 0) return nullptr;
    return copy;
  }

  /// Have the default provider compute by the message's context. OpenSSL 3.4 and newer let one operation end
  /// on such a context, but any number follow begin_message(), so that each of these ends on a copy.
  template <class Operation>
  [[nodiscard]] int finish(const Operation& operation) const {
    if (!fixed_) return operation(context_.get());
    const Libcrypto<EVP_MD_CTX> copy = copy_of_context();
    return copy == nullptr ? 0 : operation(copy.get());
  }

  static bool has_instance(const OSSL_PARAM parameters[]) {
    return OSSL_PARAM_locate_const(parameters, "instance") != nullptr;
  }

  [[nodiscard]] std::optional<SecretBytes> computed(const ActiveRequest& active,
                                                    std::span<const std::uint8_t> message) {
    if (plain_) return compute(active, {{Operation::sign_eddsa, MM_HASH_NONE, MM_HASH_NONE, 0}, message});
    if (key_->is_reference()) throw std::runtime_error("manymod-signd does not offer this signature");
    return std::nullopt;
  }
};

Eddsa& self(void* context) { return *static_cast<Eddsa*>(context); }

void* create_eddsa(void* context, const char*) { return new (std::nothrow) Eddsa(provider_of(context)); }

void destroy_eddsa(void* context) { delete static_cast<Eddsa*>(context); }

void* duplicate_eddsa(void* context) {
  return guarded(self(context).provider(), [&]() -> void* { return self(context).duplicate().release(); });
}

template <Begin kBegin>
int begin_eddsa(void* context, const char* hash, void* key, const OSSL_PARAM parameters[]) {
  return guarded(self(context).provider(), [&] {
    return self(context).begin(static_cast<Key*>(key), kBegin, hash, parameters) ? 1 : 0;
  });
}

/// The same for one of OpenSSL 3.4, which the algorithm's name, and no parameter, says the instance of.
template <Begin kBegin>
int begin_message(void* context, void* key, const OSSL_PARAM parameters[]) {
  return guarded(self(context).provider(), [&] {
    return self(context).begin_message(static_cast<Key*>(key), kBegin, parameters) ? 1 : 0;
  });
}

/// The same on what was hashed before, also of 3.4.
template <BeginHashed kBegin>
int begin_hashed(void* context, void* key, const OSSL_PARAM parameters[]) {
  return guarded(self(context).provider(), [&] {
    return self(context).begin_hashed(static_cast<Key*>(key), kBegin, parameters) ? 1 : 0;
  });
}

const char** query_key_types() {
  static const char* names[] = {"ED25519", nullptr};
  return names;
}

int sign_message(void* context, unsigned char* signature, std::size_t* size, std::size_t room,
                 const unsigned char* message, std::size_t message_size) {
  return guarded(self(context).provider(),
                 [&] { return self(context).sign(signature, size, room, {message, message_size}) ? 1 : 0; });
}

int verify_message(void* context, const unsigned char* signature, std::size_t size,
                   const unsigned char* message, std::size_t message_size) {
  return guarded(self(context).provider(),
                 [&] { return self(context).verify({signature, size}, {message, message_size}); });
}

int get_eddsa_params(void* context, OSSL_PARAM parameters[]) {
  EVP_PKEY_CTX* const own = self(context).context();
  return own != nullptr && EVP_PKEY_CTX_get_params(own, parameters) > 0 ? 1 : 0;
}

int set_eddsa_params(void* context, const OSSL_PARAM parameters[]) {
  return self(context).set(parameters) ? 1 : 0;
}

const OSSL_PARAM* gettable_eddsa_params(void* context, void*) {
  EVP_PKEY_CTX* const own = context == nullptr ? nullptr : self(context).context();
  return own == nullptr ? nullptr : EVP_PKEY_CTX_gettable_params(own);
}

const OSSL_PARAM* settable_eddsa_params(void* context, void*) {
  EVP_PKEY_CTX* const own = context == nullptr ? nullptr : self(context).context();
  return own == nullptr ? nullptr : EVP_PKEY_CTX_settable_params(own);
}

}  // namespace

const OSSL_DISPATCH* eddsa_functions(bool messages) {
  static const OSSL_DISPATCH table[] = {
      entry(kQueryKeyTypes, query_key_types),
      entry(kSignMessageInit, begin_message<EVP_DigestSignInit_ex>),
      entry(OSSL_FUNC_SIGNATURE_SIGN_INIT, begin_hashed<EVP_PKEY_sign_init_ex>),
      entry(OSSL_FUNC_SIGNATURE_SIGN, sign_message),
      entry(OSSL_FUNC_SIGNATURE_VERIFY_INIT, begin_hashed<EVP_PKEY_verify_init_ex>),
      entry(kVerifyMessageInit, begin_message<EVP_DigestVerifyInit_ex>),
      entry(OSSL_FUNC_SIGNATURE_VERIFY, verify_message),
      entry(OSSL_FUNC_SIGNATURE_NEWCTX, create_eddsa),  // the first that older versions know
      entry(OSSL_FUNC_SIGNATURE_FREECTX, destroy_eddsa),
      entry(OSSL_FUNC_SIGNATURE_DUPCTX, duplicate_eddsa),
      entry(OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT, begin_eddsa<EVP_DigestSignInit_ex>),
      entry(OSSL_FUNC_SIGNATURE_DIGEST_SIGN, sign_message),
      entry(OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT, begin_eddsa<EVP_DigestVerifyInit_ex>),
      entry(OSSL_FUNC_SIGNATURE_DIGEST_VERIFY, verify_message),
      entry(OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS, get_eddsa_params),
      entry(OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS, gettable_eddsa_params),
      entry(OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS, set_eddsa_params),
      entry(OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS, settable_eddsa_params),
      {0, nullptr}};
  const auto is_context = [](const OSSL_DISPATCH& row) {
    return row.function_id == OSSL_FUNC_SIGNATURE_NEWCTX;
  };
  return messages ? table : std::ranges::find_if(table, is_context);
}

}  // namespace manymod::provider
