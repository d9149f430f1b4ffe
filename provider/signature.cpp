// SPDX-License-Identifier: Apache-2.0
// SIGNATURE (provider-signature(7)): RSA (PKCS#1 v1.5 and PSS) and ECDSA, which sign digests. A context of
// the default provider, for that provider's key, has all parameters, and verifies what is not faster here;
// signatures that manymod computes are made from them.
#include <openssl/core_names.h>

#include <array>
#include <new>
#include <optional>
#include <stdexcept>

#include "compute.hpp"
#include "eddsa.hpp"
#include "key.hpp"
#include "parameters.hpp"
#include "scheme.hpp"
#include "verify.hpp"

namespace manymod::provider {
namespace {

/// How a context of libcrypto begins an operation.
using Begin = int (*)(EVP_PKEY_CTX*, const OSSL_PARAM[]);

class Signature {
 public:
  explicit Signature(const Provider& provider) : provider_(provider) {}

  [[nodiscard]] const Provider& provider() const { return provider_; }

  /// Begin an operation with `key`, or with the key of the one before if it is null.
  bool begin(Key* key, Begin start, const OSSL_PARAM parameters[]) {
    take_key(key);
    if (is_verification(start) && key_->bare() != nullptr) {
      const BareKey& bare = begin_bare();
      return keep_bare(bare.functions().begin(bare_->context(), bare.data(), parameters) > 0);
    }
    context_.reset(EVP_PKEY_CTX_new_from_pkey(provider_.library(), key_->delegate(), kDelegate));
    return context_ != nullptr && start(context_.get(), parameters) > 0;
  }

  /// The same for a message, which this object hashes. `name`: the hash, which takes precedence over the
  /// parameters. If it is null or "", the parameters, the key or the default provider choose the hash.
  bool begin_digest(Key* key, Begin start, const char* name, const OSSL_PARAM parameters[]) {
    std::string chosen = name == nullptr ? "" : name;
    take_key(key);
    const bool verifies = is_verification(start);
    if (verifies && key_->bare() != nullptr) {
      const BareKey& bare = begin_bare();
      if (chosen.empty()) chosen = bare.usual_hash();
      return keep_bare(
          bare.functions().begin_message(bare_->context(), chosen.c_str(), bare.data(), parameters) > 0);
    }
    const bool is_plain = parameters == nullptr || parameters->key == nullptr;
    if (verifies && is_plain) context_ = key_->verification(chosen);
    is_copy_ = context_ != nullptr;
    if (!is_copy_) {
      const std::string asked = chosen;
      if (!begin(nullptr, start, parameters)) return false;
      if (chosen.empty()) chosen = text_of(context_.get(), OSSL_SIGNATURE_PARAM_DIGEST);
      if (chosen.empty()) chosen = "SHA256";
      if (!set_digest(chosen)) return false;
      if (verifies && is_plain && !asked.empty()) key_->remember_verification(asked, context_.get());
    }
    const Libcrypto<EVP_MD> hash(EVP_MD_fetch(provider_.library(), chosen.c_str(), kDelegate));
    hash_.reset(EVP_MD_CTX_new());
    return hash != nullptr && hash_ != nullptr && EVP_DigestInit_ex(hash_.get(), hash.get(), nullptr) > 0;
  }

  bool update(const unsigned char* data, std::size_t size) {
    if (bare_) return bare_->functions().update(bare_->context(), data, size) > 0;
    return hash_ != nullptr && EVP_DigestUpdate(hash_.get(), data, size) > 0;
  }

  /// A copy, with its own hash and parameters.
  [[nodiscard]] std::unique_ptr<Signature> duplicate() const {
    auto copy = std::make_unique<Signature>(provider_);
    copy->key_ = key_;
    if (bare_) {
      copy->bare_ = bare_->duplicate();
      if (!copy->bare_) return nullptr;
    }
    if (context_ != nullptr) {
      copy->context_.reset(EVP_PKEY_CTX_dup(context_.get()));
      if (copy->context_ == nullptr) return nullptr;
      copy->is_copy_ = true;
    }
    if (hash_ != nullptr) {
      copy->hash_.reset(EVP_MD_CTX_new());
      if (copy->hash_ == nullptr || EVP_MD_CTX_copy_ex(copy->hash_.get(), hash_.get()) <= 0) return nullptr;
    }
    return copy;
  }

  /// The signature of a digest, or of data that needs none. `signature` null: its length alone.
  bool sign(unsigned char* signature, std::size_t* size, std::size_t room,
            std::span<const std::uint8_t> data) {
    if (context_ == nullptr) return false;
    if (signature == nullptr)
      return EVP_PKEY_sign(context_.get(), nullptr, size, data.data(), data.size()) > 0;
    const ActiveRequest active(*key_.get());
    if (const std::optional<SecretBytes> made = computed(active, data)) {
      if (made->size() > room) throw std::runtime_error("the buffer for the signature is too small");
      std::copy_n(made->data(), made->size(), signature);
      *size = made->size();
      return true;
    }
    *size = room;
    return EVP_PKEY_sign(context_.get(), signature, size, data.data(), data.size()) > 0;
  }

  bool sign_hashed(unsigned char* signature, std::size_t* size, std::size_t room) {
    if (signature == nullptr) return sign(nullptr, size, 0, {});
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
    return sign(signature, size, room, finish_hash(digest));
  }

  /// @return as EVP_PKEY_verify: 1 for a valid signature, 0 or a negative number for any other
  int verify(std::span<const std::uint8_t> signature, std::span<const std::uint8_t> data) {
    if (bare_) {
      return bare_->functions().verify(bare_->context(), signature.data(), signature.size(), data.data(),
                                       data.size());
    }
    if (context_ == nullptr) return 0;
    // OpenSSL rejects a digest whose length is not that of the hash which was set, and reports that itself.
    const EVP_MD* hash = nullptr;
    const bool fits = key_.get()->kind() != Kind::ec ||
                      EVP_PKEY_CTX_get_signature_md(context_.get(), &hash) <= 0 || hash == nullptr ||
                      static_cast<std::size_t>(EVP_MD_get_size(hash)) == data.size();
    if (fits) {
      if (const std::optional<bool> valid = verified_here(*key_.get(), signature, data))
        return *valid ? 1 : 0;
    }
    return EVP_PKEY_verify(context_.get(), signature.data(), signature.size(), data.data(), data.size());
  }

  int verify_hashed(std::span<const std::uint8_t> signature) {
    if (bare_) {
      return bare_->functions().verify_message(bare_->context(), signature.data(), signature.size());
    }
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
    return verify(signature, finish_hash(digest));
  }

  bool recover(unsigned char* data, std::size_t* size, std::size_t room,
               std::span<const std::uint8_t> signature) {
    if (context_ == nullptr) return false;
    *size = room;
    return EVP_PKEY_verify_recover(context_.get(), data, size, signature.data(), signature.size()) > 0;
  }

  bool set(const OSSL_PARAM parameters[]) {
    if (parameters == nullptr || parameters->key == nullptr) return true;
    if (bare_) return bare_->functions().set_params(bare_->context(), parameters) > 0;
    if (context_ == nullptr) return false;
    if (!keeps_hash(parameters)) {
      provider_.raise(Reason::digest, "the digest of a message under way cannot be changed");
      return false;
    }
    return EVP_PKEY_CTX_set_params(context_.get(), parameters) > 0;
  }

  bool get(OSSL_PARAM parameters[]) {
    if (bare_) return bare_->functions().get_params(bare_->context(), parameters) > 0;
    if (context_ == nullptr) return false;
    if (OSSL_PARAM_locate(parameters, OSSL_SIGNATURE_PARAM_ALGORITHM_ID) != nullptr && !own_algorithm())
      return false;
    return EVP_PKEY_CTX_get_params(context_.get(), parameters) > 0;
  }

  /// The parameters that can be had and set: of the signature; null before begin().
  [[nodiscard]] const OSSL_PARAM* gettable() const {
    if (bare_) return bare_->functions().gettable_params(bare_->context(), bare_->functions().context);
    return context_ == nullptr ? nullptr : EVP_PKEY_CTX_gettable_params(context_.get());
  }
  [[nodiscard]] const OSSL_PARAM* settable() const {
    if (bare_) return bare_->functions().settable_params(bare_->context(), bare_->functions().context);
    return context_ == nullptr ? nullptr : EVP_PKEY_CTX_settable_params(context_.get());
  }

  /// The same of the hash of a message.
  bool get_of_hash(OSSL_PARAM parameters[]) {
    if (bare_) return bare_->functions().get_hash_params(bare_->context(), parameters) > 0;
    return hash_ != nullptr && EVP_MD_CTX_get_params(hash_.get(), parameters) > 0;
  }
  bool set_of_hash(const OSSL_PARAM parameters[]) {
    if (bare_) return bare_->functions().set_hash_params(bare_->context(), parameters) > 0;
    return hash_ != nullptr && EVP_MD_CTX_set_params(hash_.get(), parameters) > 0;
  }
  [[nodiscard]] const OSSL_PARAM* gettable_of_hash() const {
    if (bare_) return bare_->functions().gettable_hash_params(bare_->context());
    return EVP_MD_CTX_gettable_params(hash_.get());
  }
  [[nodiscard]] const OSSL_PARAM* settable_of_hash() const {
    if (bare_) return bare_->functions().settable_hash_params(bare_->context());
    return EVP_MD_CTX_settable_params(hash_.get());
  }

 private:
  const Provider& provider_;
  KeyReference key_;
  Libcrypto<EVP_PKEY_CTX> context_;
  bool is_copy_ = false;  ///< whether context_ was copied from another context
  Libcrypto<EVP_MD_CTX> hash_;
  std::optional<BareVerification> bare_;  ///< instead of both, for a bare key

  static bool is_verification(Begin start) { return start == static_cast<Begin>(EVP_PKEY_verify_init_ex); }

  const BareKey& begin_bare() {
    bare_.emplace(key_->bare()->functions());
    return *key_->bare();
  }
  /// After a failed begin the operation has not begun.
  bool keep_bare(bool begun) {
    if (!begun) bare_.reset();
    return begun;
  }

  /// For an operation that begins; null: the key of the one before.
  void take_key(Key* key) {
    if (key != nullptr) key_ = KeyReference(key);
    if (!key_ || key_->is_empty()) throw std::runtime_error("there is no key");
    hash_.reset();
    context_.reset();
    is_copy_ = false;
    bare_.reset();
  }

  /// In OpenSSL 3.0 a copied ECDSA context points to the algorithm identifier in the memory of the original,
  /// which may have been freed. Setting the digest again, to the same one, gives the copy an identifier of
  /// its own.
  bool own_algorithm() {
    if (!is_copy_ || key_->kind() != Kind::ec) return true;
    std::string digest = text_of(context_.get(), OSSL_SIGNATURE_PARAM_DIGEST);
    is_copy_ = false;
    return digest.empty() || set_digest(digest);
  }

  /// Whether the parameters do not change the hash of the message that is being hashed. They may name the
  /// same hash again, as EVP_PKEY_CTX_set_signature_md does.
  [[nodiscard]] bool keeps_hash(const OSSL_PARAM parameters[]) const {
    const OSSL_PARAM* const digest = OSSL_PARAM_locate_const(parameters, OSSL_SIGNATURE_PARAM_DIGEST);
    const char* name = nullptr;
    return hash_ == nullptr || digest == nullptr ||
           (OSSL_PARAM_get_utf8_string_ptr(digest, &name) != 0 &&
            EVP_MD_is_a(EVP_MD_CTX_get0_md(hash_.get()), name) != 0);
  }

  bool set_digest(std::string& name) {
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_SIGNATURE_PARAM_DIGEST, name.data(), 0),
        OSSL_PARAM_construct_end()};
    return set(parameters);
  }

  std::span<const std::uint8_t> finish_hash(std::array<std::uint8_t, EVP_MAX_MD_SIZE>& digest) {
    unsigned size = 0;
    if (hash_ == nullptr || EVP_DigestFinal_ex(hash_.get(), digest.data(), &size) <= 0) {
      throw std::runtime_error("no message was hashed");
    }
    return {digest.data(), size};
  }

  [[nodiscard]] std::optional<SecretBytes> computed(const ActiveRequest& active,
                                                    std::span<const std::uint8_t> data) {
    const std::optional<SignatureRequest> request = signature_request(*key_.get(), context_.get(), data);
    if (request) return compute(active, {request->scheme, request->input});
    if (key_->is_reference()) throw std::runtime_error("manymod-signd does not offer this signature");
    return std::nullopt;
  }
};

Signature& self(void* context) { return *static_cast<Signature*>(context); }

// ---- entry points -----------------------------------------------------------------------------------------

void* create(void* context, const char*) { return new (std::nothrow) Signature(provider_of(context)); }

void destroy(void* context) { delete static_cast<Signature*>(context); }

void* duplicate(void* context) {
  return guarded(self(context).provider(), [&]() -> void* { return self(context).duplicate().release(); });
}

template <Begin kBegin>
int begin(void* context, void* key, const OSSL_PARAM parameters[]) {
  return guarded(self(context).provider(),
                 [&] { return self(context).begin(static_cast<Key*>(key), kBegin, parameters) ? 1 : 0; });
}

template <Begin kBegin>
int begin_digest(void* context, const char* hash, void* key, const OSSL_PARAM parameters[]) {
  return guarded(self(context).provider(), [&] {
    return self(context).begin_digest(static_cast<Key*>(key), kBegin, hash, parameters) ? 1 : 0;
  });
}

int update(void* context, const unsigned char* data, std::size_t size) {
  return self(context).update(data, size) ? 1 : 0;
}

int sign(void* context, unsigned char* signature, std::size_t* size, std::size_t room,
         const unsigned char* data, std::size_t data_size) {
  return guarded(self(context).provider(),
                 [&] { return self(context).sign(signature, size, room, {data, data_size}) ? 1 : 0; });
}

int sign_final(void* context, unsigned char* signature, std::size_t* size, std::size_t room) {
  return guarded(self(context).provider(),
                 [&] { return self(context).sign_hashed(signature, size, room) ? 1 : 0; });
}

int verify(void* context, const unsigned char* signature, std::size_t size, const unsigned char* data,
           std::size_t data_size) {
  return guarded(self(context).provider(),
                 [&] { return self(context).verify({signature, size}, {data, data_size}); });
}

int verify_final(void* context, const unsigned char* signature, std::size_t size) {
  return guarded(self(context).provider(), [&] { return self(context).verify_hashed({signature, size}); });
}

int recover(void* context, unsigned char* data, std::size_t* size, std::size_t room,
            const unsigned char* signature, std::size_t signature_size) {
  return guarded(self(context).provider(), [&] {
    return self(context).recover(data, size, room, {signature, signature_size}) ? 1 : 0;
  });
}

int get_params(void* context, OSSL_PARAM parameters[]) { return self(context).get(parameters) ? 1 : 0; }

int set_params(void* context, const OSSL_PARAM parameters[]) { return self(context).set(parameters) ? 1 : 0; }

const OSSL_PARAM* gettable_params(void* context, void*) {
  return context == nullptr ? nullptr : self(context).gettable();
}

const OSSL_PARAM* settable_params(void* context, void*) {
  return context == nullptr ? nullptr : self(context).settable();
}

int get_hash_params(void* context, OSSL_PARAM parameters[]) {
  return self(context).get_of_hash(parameters) ? 1 : 0;
}

int set_hash_params(void* context, const OSSL_PARAM parameters[]) {
  return self(context).set_of_hash(parameters) ? 1 : 0;
}

const OSSL_PARAM* gettable_hash_params(void* context) { return self(context).gettable_of_hash(); }

const OSSL_PARAM* settable_hash_params(void* context) { return self(context).settable_of_hash(); }

const OSSL_DISPATCH kFunctions[] = {
    entry(OSSL_FUNC_SIGNATURE_NEWCTX, create),
    entry(OSSL_FUNC_SIGNATURE_FREECTX, destroy),
    entry(OSSL_FUNC_SIGNATURE_DUPCTX, duplicate),
    entry(OSSL_FUNC_SIGNATURE_SIGN_INIT, begin<EVP_PKEY_sign_init_ex>),
    entry(OSSL_FUNC_SIGNATURE_SIGN, sign),
    entry(OSSL_FUNC_SIGNATURE_VERIFY_INIT, begin<EVP_PKEY_verify_init_ex>),
    entry(OSSL_FUNC_SIGNATURE_VERIFY, verify),
    entry(OSSL_FUNC_SIGNATURE_VERIFY_RECOVER_INIT, begin<EVP_PKEY_verify_recover_init_ex>),
    entry(OSSL_FUNC_SIGNATURE_VERIFY_RECOVER, recover),
    entry(OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT, begin_digest<EVP_PKEY_sign_init_ex>),
    entry(OSSL_FUNC_SIGNATURE_DIGEST_SIGN_UPDATE, update),
    entry(OSSL_FUNC_SIGNATURE_DIGEST_SIGN_FINAL, sign_final),
    entry(OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT, begin_digest<EVP_PKEY_verify_init_ex>),
    entry(OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_UPDATE, update),
    entry(OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_FINAL, verify_final),
    entry(OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS, get_params),
    entry(OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS, gettable_params),
    entry(OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS, set_params),
    entry(OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS, settable_params),
    entry(OSSL_FUNC_SIGNATURE_GET_CTX_MD_PARAMS, get_hash_params),
    entry(OSSL_FUNC_SIGNATURE_GETTABLE_CTX_MD_PARAMS, gettable_hash_params),
    entry(OSSL_FUNC_SIGNATURE_SET_CTX_MD_PARAMS, set_hash_params),
    entry(OSSL_FUNC_SIGNATURE_SETTABLE_CTX_MD_PARAMS, settable_hash_params),
    {0, nullptr}};

}  // namespace

std::span<const Algorithm> signatures(bool messages) {
  const auto ed25519 = [](bool with_messages) {
    return Algorithm{"ED25519",
                     {"ED25519:1.3.101.112", MANYMOD_PROVIDER_PROPERTIES, eddsa_functions(with_messages),
                      "Ed25519 by manymod"}};
  };
  static const Algorithm all[] = {
      ed25519(false),
      {"RSA",
       {"RSA:rsaEncryption:1.2.840.113549.1.1.1", MANYMOD_PROVIDER_PROPERTIES, kFunctions,
        "RSA signatures by manymod"}},
      {"EC", {"ECDSA", MANYMOD_PROVIDER_PROPERTIES, kFunctions, "ECDSA by manymod"}},
      ed25519(true)};
  // Without the first or the last of Ed25519.
  return std::span<const Algorithm>(all).subspan(messages ? 1 : 0, std::size(all) - 1);
}

}  // namespace manymod::provider
