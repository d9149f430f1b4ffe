// SPDX-License-Identifier: Apache-2.0
// KEYEXCH (provider-keyexch(7)): ECDH. A context of the default provider, for that provider's key, has all
// parameters.
#include <openssl/core_names.h>

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>

#include "compute.hpp"
#include "curves.hpp"
#include "job.hpp"
#include "key.hpp"
#include "parameters.hpp"

namespace manymod::provider {
namespace {

class Exchange {
 public:
  explicit Exchange(const Provider& provider) : provider_(provider) {}

  [[nodiscard]] const Provider& provider() const { return provider_; }

  bool begin(Key* key, const OSSL_PARAM parameters[]) {
    key_ = KeyReference(key);
    if (!key_ || key_->delegate() == nullptr) throw std::runtime_error("there is no key");
    context_.reset(EVP_PKEY_CTX_new_from_pkey(provider_.library(), key_->delegate(), kDelegate));
    return context_ != nullptr && EVP_PKEY_derive_init_ex(context_.get(), parameters) > 0;
  }

  bool set_peer(Key* peer) {
    if (context_ == nullptr || peer == nullptr || peer->delegate() == nullptr) return false;
    // libcrypto has checked the peer's key before it calls this.
    if (EVP_PKEY_derive_set_peer_ex(context_.get(), peer->delegate(), 0) <= 0) return false;
    peer_ = KeyReference(peer);
    return true;
  }

  bool derive(unsigned char* secret, std::size_t* size, std::size_t room) {
    if (context_ == nullptr) return false;
    *size = room;
    if (secret == nullptr) return EVP_PKEY_derive(context_.get(), secret, size) > 0;
    const std::optional<SecretBytes> made = key_->is_reference() ? computed_by_daemon() : computed_here();
    if (!made) return EVP_PKEY_derive(context_.get(), secret, size) > 0;
    *size = std::min(made->size(), room);  // like the default provider, truncate
    std::copy_n(made->data(), *size, secret);
    return true;
  }

  [[nodiscard]] std::unique_ptr<Exchange> duplicate() const {
    auto copy = std::make_unique<Exchange>(provider_);
    copy->key_ = key_;
    copy->peer_ = peer_;
    if (context_ != nullptr) {
      copy->context_.reset(EVP_PKEY_CTX_dup(context_.get()));
      if (copy->context_ == nullptr) return nullptr;
    }
    return copy;
  }

  /// The context of the default provider; null before begin().
  [[nodiscard]] EVP_PKEY_CTX* context() const { return context_.get(); }

 private:
  const Provider& provider_;
  KeyReference key_, peer_;
  Libcrypto<EVP_PKEY_CTX> context_;

  /// Whether a key is derived from the secret, which the default provider does.
  [[nodiscard]] bool derives_key() const {
    return !text_of(context_.get(), OSSL_EXCHANGE_PARAM_KDF_TYPE).empty();
  }

  std::optional<SecretBytes> computed_by_daemon() {
    if (derives_key()) throw std::runtime_error("manymod-signd derives no keys from secrets");
    const ActiveRequest active(*key_.get());
    const SecretBytes point = peer_point();
    return compute(active, {{Operation::exchange, MM_HASH_NONE, MM_HASH_NONE, 0}, point.span()});
  }

  /// On P-384, where manymod is faster. A key is usually made for one exchange, which is not worth a service
  /// of its own.
  std::optional<SecretBytes> computed_here() {
    if (!peer_ || derives_key() || current_job() != nullptr) return std::nullopt;
    const std::optional<CurveSecret> own = curve_secret(key_->delegate(), key_->kind());
    if (!own || own->curve != "P-384" || own->secret.size() == 0) return std::nullopt;
    try {
      ecc::Plan& plan = shared_plan(own->curve, provider_.configuration().engine);
      return compute_on_curve(plan, MM_ECC_EXCHANGE, own->secret, peer_point());
    } catch (const Error&) {  // no valid point, or a device failed: left to the default provider
      return std::nullopt;
    }
  }

  [[nodiscard]] SecretBytes peer_point() const {
    if (!peer_) throw std::runtime_error("there is no peer");
    std::size_t size = 0;
    EVP_PKEY* const key = peer_->delegate();
    if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, nullptr, 0, &size) <= 0) {
      throw std::runtime_error("the peer has no public key");
    }
    SecretBytes point(size);
    if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, point.data(), size, &size) <=
        0) {
      throw std::runtime_error("the peer has no public key");
    }
    return point;
  }
};

Exchange& self(void* context) { return *static_cast<Exchange*>(context); }

void* create_exchange(void* context) { return new (std::nothrow) Exchange(provider_of(context)); }

void destroy_exchange(void* context) { delete static_cast<Exchange*>(context); }

void* duplicate_exchange(void* context) {
  return guarded(self(context).provider(), [&]() -> void* { return self(context).duplicate().release(); });
}

int begin_exchange(void* context, void* key, const OSSL_PARAM parameters[]) {
  return guarded(self(context).provider(),
                 [&] { return self(context).begin(static_cast<Key*>(key), parameters) ? 1 : 0; });
}

int set_peer(void* context, void* peer) { return self(context).set_peer(static_cast<Key*>(peer)) ? 1 : 0; }

int derive(void* context, unsigned char* secret, std::size_t* size, std::size_t room) {
  return guarded(self(context).provider(), [&] { return self(context).derive(secret, size, room) ? 1 : 0; });
}

int get_exchange_params(void* context, OSSL_PARAM parameters[]) {
  EVP_PKEY_CTX* const own = self(context).context();
  return own != nullptr && EVP_PKEY_CTX_get_params(own, parameters) > 0 ? 1 : 0;
}

int set_exchange_params(void* context, const OSSL_PARAM parameters[]) {
  EVP_PKEY_CTX* const own = self(context).context();
  if (parameters == nullptr || parameters->key == nullptr) return 1;
  return own != nullptr && EVP_PKEY_CTX_set_params(own, parameters) > 0 ? 1 : 0;
}

const OSSL_PARAM* gettable_exchange_params(void* context, void*) {
  EVP_PKEY_CTX* const own = context == nullptr ? nullptr : self(context).context();
  return own == nullptr ? nullptr : EVP_PKEY_CTX_gettable_params(own);
}

const OSSL_PARAM* settable_exchange_params(void* context, void*) {
  EVP_PKEY_CTX* const own = context == nullptr ? nullptr : self(context).context();
  return own == nullptr ? nullptr : EVP_PKEY_CTX_settable_params(own);
}

const OSSL_DISPATCH kExchangeFunctions[] = {
    entry(OSSL_FUNC_KEYEXCH_NEWCTX, create_exchange),
    entry(OSSL_FUNC_KEYEXCH_FREECTX, destroy_exchange),
    entry(OSSL_FUNC_KEYEXCH_DUPCTX, duplicate_exchange),
    entry(OSSL_FUNC_KEYEXCH_INIT, begin_exchange),
    entry(OSSL_FUNC_KEYEXCH_SET_PEER, set_peer),
    entry(OSSL_FUNC_KEYEXCH_DERIVE, derive),
    entry(OSSL_FUNC_KEYEXCH_GET_CTX_PARAMS, get_exchange_params),
    entry(OSSL_FUNC_KEYEXCH_GETTABLE_CTX_PARAMS, gettable_exchange_params),
    entry(OSSL_FUNC_KEYEXCH_SET_CTX_PARAMS, set_exchange_params),
    entry(OSSL_FUNC_KEYEXCH_SETTABLE_CTX_PARAMS, settable_exchange_params),
    {0, nullptr}};

}  // namespace

std::span<const Algorithm> key_exchanges() {
  static const Algorithm all[] = {
      {"EC", {"ECDH", MANYMOD_PROVIDER_PROPERTIES, kExchangeFunctions, "ECDH by manymod"}}};
  return all;
}

}  // namespace manymod::provider
