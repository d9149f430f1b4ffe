// SPDX-License-Identifier: Apache-2.0
#include "key.hpp"

#include <openssl/core_names.h>
#include <openssl/provider.h>
#include <openssl/x509.h>

#include <limits>
#include <optional>
#include <string_view>

#include "daemon_key.hpp"
#include "parameters.hpp"

namespace manymod::provider {
namespace {

SecretBytes number(EVP_PKEY* key, const char* name) {
  BIGNUM* raw = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &raw) == 0) return {};
  const Libcrypto<BIGNUM> value(raw);
  SecretBytes bytes(static_cast<std::size_t>(BN_num_bytes(raw)));
  BN_bn2bin(raw, bytes.data());
  return bytes;
}

SecretBytes padded_number(EVP_PKEY* key, const char* name, std::size_t size) {
  BIGNUM* raw = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &raw) == 0) return {};
  const Libcrypto<BIGNUM> value(raw);
  SecretBytes bytes(size);
  if (BN_bn2binpad(raw, bytes.data(), static_cast<int>(size)) < 0) return {};
  return bytes;
}

SecretBytes octets(EVP_PKEY* key, const char* name) {
  std::size_t size = 0;
  if (EVP_PKEY_get_octet_string_param(key, name, nullptr, 0, &size) == 0) return {};
  SecretBytes bytes(size);
  if (EVP_PKEY_get_octet_string_param(key, name, bytes.data(), size, &size) == 0) return {};
  return bytes;
}

RsaNumbers rsa_numbers(EVP_PKEY* key) {
  return {number(key, OSSL_PKEY_PARAM_RSA_N),         number(key, OSSL_PKEY_PARAM_RSA_E),
          number(key, OSSL_PKEY_PARAM_RSA_D),         number(key, OSSL_PKEY_PARAM_RSA_FACTOR1),
          number(key, OSSL_PKEY_PARAM_RSA_FACTOR2),   number(key, OSSL_PKEY_PARAM_RSA_EXPONENT1),
          number(key, OSSL_PKEY_PARAM_RSA_EXPONENT2), number(key, OSSL_PKEY_PARAM_RSA_COEFFICIENT1)};
}

/// Whether a key of the default provider has a parameter that is a number or a string of bytes.
bool has_number(EVP_PKEY* key, const char* name) {
  BIGNUM* raw = nullptr;
  const bool has = EVP_PKEY_get_bn_param(key, name, &raw) != 0;
  BN_clear_free(raw);
  return has;
}

bool has_octets(EVP_PKEY* key, const char* name) {
  std::size_t size = 0;
  return EVP_PKEY_get_octet_string_param(key, name, nullptr, 0, &size) != 0 && size != 0;
}

bool group_is_p384(const BareKey& key) {
  char group[64] = "";
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof group),
      OSSL_PARAM_construct_end()};
  return key.functions().get_key_params(key.data(), parameters) != 0 && is_p384(group);
}

/// The size of RSA keys from which manymod computes a single request faster than libcrypto's provider of
/// this key. The provider of OpenSSL 3.0 does not use AVX-512 IFMA above 2048 bits. docs/provider.md has the
/// measurements.
std::size_t usual_alone_bits(EVP_PKEY* key) {
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512ifma")) return kNever;
  char* version = nullptr;
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_VERSION, &version, 0),
                             OSSL_PARAM_construct_end()};
  const bool told = OSSL_PROVIDER_get_params(EVP_PKEY_get0_provider(key), parameters) != 0;
  const bool is_old = told && version != nullptr && std::string_view(version).starts_with("3.0.");
  return is_old ? 3072 : kNever;
#else
  static_cast<void>(key);
  return kNever;
#endif
}

}  // namespace

const char* curve_name(EVP_PKEY* key, Kind kind) {
  if (kind == Kind::ed25519) return "Ed25519";
  char group[64] = "";
  if (kind != Kind::ec || EVP_PKEY_get_group_name(key, group, sizeof group, nullptr) == 0) return nullptr;
  const std::string_view name = group;
  if (name == "prime256v1" || name == "P-256") return "P-256";
  return is_p384(group) ? "P-384" : nullptr;
}

bool is_p384(const char* group_name) {
  return is_same_name(group_name, "P-384") || is_same_name(group_name, "secp384r1");
}

std::optional<CurveSecret> curve_secret(EVP_PKEY* key, Kind kind) {
  const char* const name = curve_name(key, kind);
  if (name == nullptr) return std::nullopt;
  if (kind == Kind::ed25519) return CurveSecret{name, octets(key, OSSL_PKEY_PARAM_PRIV_KEY)};
  const std::size_t bytes = std::string_view(name) == "P-256" ? 32 : 48;
  return CurveSecret{name, padded_number(key, OSSL_PKEY_PARAM_PRIV_KEY, bytes)};
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::rsa:
      return "RSA";
    case Kind::rsa_pss:
      return "RSA-PSS";
    case Kind::ec:
      return "EC";
    case Kind::ed25519:
      return "ED25519";
  }
  return "";
}

Key::~Key() {
  delete verification_.load(std::memory_order_acquire);
  EVP_PKEY_free(delegate_.load(std::memory_order_acquire));
}

// Without a mutex, which a fork in another thread could leave locked in the child.
EVP_PKEY* Key::delegate() const {
  EVP_PKEY* known = delegate_.load(std::memory_order_acquire);
  if (known != nullptr || !bare_) return known;
  Libcrypto<EVP_PKEY> made = copy_of_parts(OSSL_KEYMGMT_SELECT_ALL);
  if (made == nullptr) return nullptr;
  return delegate_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel) ? made.release()
                                                                                         : known;
}

Libcrypto<EVP_PKEY_CTX> Key::verification(const std::string& hash) const {
  const Verification* const known = verification_.load(std::memory_order_acquire);
  if (known == nullptr || known->hash != hash) return nullptr;
  return Libcrypto<EVP_PKEY_CTX>(EVP_PKEY_CTX_dup(known->context.get()));
}

// Only the first hash is remembered, because most keys are used with one hash. Without a mutex, as
// delegate().
void Key::remember_verification(const std::string& hash, EVP_PKEY_CTX* context) const {
  if (verification_.load(std::memory_order_relaxed) != nullptr) return;
  auto made =
      std::make_unique<Verification>(Verification{hash, Libcrypto<EVP_PKEY_CTX>(EVP_PKEY_CTX_dup(context))});
  const Verification* none = nullptr;
  if (made->context == nullptr) return;
  if (verification_.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) {
    [[maybe_unused]] const auto* const kept = made.release();
  }
}

void Key::adopt(Libcrypto<EVP_PKEY> delegate) {
  EVP_PKEY_free(delegate_.exchange(delegate.release()));
  note_parts();
}

bool Key::import(int selection, const OSSL_PARAM parts[]) {
  if (!is_empty()) return false;
  ERR_set_mark();
  bare_ = provider_.default_provider().import(provider_.library(), kind_, selection, parts);
  ERR_pop_to_mark();
  if (bare_) return has_public_ = true;
  Libcrypto<EVP_PKEY> key = key_of_parts(selection, parts);
  if (key == nullptr) return false;
  adopt(std::move(key));
  return true;
}

Libcrypto<EVP_PKEY> Key::key_of_parts(int selection, const OSSL_PARAM parts[]) const {
  const Libcrypto<EVP_PKEY_CTX> context(
      EVP_PKEY_CTX_new_from_name(provider_.library(), name_of(kind_), kDelegate));
  EVP_PKEY* made = nullptr;
  if (context == nullptr || EVP_PKEY_fromdata_init(context.get()) <= 0 ||
      EVP_PKEY_fromdata(context.get(), &made, selection, const_cast<OSSL_PARAM*>(parts)) <= 0) {
    return nullptr;
  }
  return Libcrypto<EVP_PKEY>(made);
}

bool Key::decode(OSSL_CORE_BIO* subject_public_key_info) {
  bare_ = provider_.default_provider().decode(provider_.library(), kind_, subject_public_key_info);
  if (!bare_) return false;
  has_public_ = true;
  if (kind_ == Kind::ec && group_is_p384(*bare_)) {  // manymod verifies signatures of these
    Libcrypto<EVP_PKEY> key = copy_of_parts(OSSL_KEYMGMT_SELECT_ALL);
    bare_.reset();
    if (key == nullptr) return false;
    adopt(std::move(key));
  }
  return true;
}

bool Key::refer(std::span<const std::uint8_t> subject_public_key_info) {
  const unsigned char* read = subject_public_key_info.data();
  Libcrypto<EVP_PKEY> key(d2i_PUBKEY_ex(nullptr, &read, static_cast<long>(subject_public_key_info.size()),
                                        provider_.library(), kDelegate));
  if (key == nullptr || EVP_PKEY_is_a(key.get(), name_of(kind_)) == 0) return false;
  adopt(std::move(key));
  subject_public_key_info_.assign(subject_public_key_info.begin(), subject_public_key_info.end());
  is_reference_ = true;
  return true;
}

bool Key::set_parameters(const OSSL_PARAM parameters[]) {
  if (delegate() == nullptr) return false;
  bare_.reset();
  if (EVP_PKEY_set_params(delegate(), const_cast<OSSL_PARAM*>(parameters)) == 0) return false;
  note_parts();
  return true;
}

bool Key::get_parameters(OSSL_PARAM parameters[]) const {
  if (bare_) return bare_->functions().get_key_params(bare_->data(), parameters) != 0;
  return delegate() != nullptr && EVP_PKEY_get_params(delegate(), parameters) != 0;
}

bool Key::export_parts(int selection, OSSL_CALLBACK* callback, void* argument) const {
  if (bare_) return bare_->functions().export_key(bare_->data(), selection, callback, argument) != 0;
  return delegate() != nullptr && EVP_PKEY_export(delegate(), selection, callback, argument) != 0;
}

void Key::note_parts() {
  // Asking for parts that a key does not have adds errors to the application's queue, which are removed.
  ERR_set_mark();
  EVP_PKEY* const key = delegate();
  switch (kind_) {
    case Kind::rsa:
    case Kind::rsa_pss:
      has_public_ = has_number(key, OSSL_PKEY_PARAM_RSA_N);
      has_private_ = has_number(key, OSSL_PKEY_PARAM_RSA_D);
      break;
    case Kind::ec:
      has_public_ = has_octets(key, OSSL_PKEY_PARAM_PUB_KEY);
      has_private_ = has_number(key, OSSL_PKEY_PARAM_PRIV_KEY);
      break;
    case Kind::ed25519:
      has_public_ = has_octets(key, OSSL_PKEY_PARAM_PUB_KEY);
      has_private_ = has_octets(key, OSSL_PKEY_PARAM_PRIV_KEY);
      break;
  }
  ERR_pop_to_mark();
}

Key* Key::duplicate(int selection) const {
  if (is_empty()) return nullptr;
  const bool private_too = (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0;
  KeyOwner key(new Key(provider_, kind_));
  if (private_too && is_reference_) {
    return key->refer(subject_public_key_info_) ? key.release() : nullptr;
  }
  Libcrypto<EVP_PKEY> copy =
      private_too ? Libcrypto<EVP_PKEY>(EVP_PKEY_dup(delegate())) : copy_of_parts(selection);
  if (copy == nullptr) return nullptr;
  key->adopt(std::move(copy));
  return key.release();
}

Libcrypto<EVP_PKEY> Key::copy_of_parts(int selection) const {
  OSSL_PARAM* parts = nullptr;
  const auto keep = [](const OSSL_PARAM exported[], void* kept) {
    *static_cast<OSSL_PARAM**>(kept) = OSSL_PARAM_dup(exported);
    return 1;
  };
  if (!export_parts(selection, keep, &parts) || parts == nullptr) return nullptr;
  const Libcrypto<OSSL_PARAM> owner(parts);
  return key_of_parts(selection, parts);
}

PrivateKey* Key::private_key() const {
  return private_key_.get([this] { return make_private_key(); });
}

PrivateKey* Key::own_private_key() const {
  if (provider_.configuration().mode != Mode::daemon) return private_key();
  return own_private_key_.get([this] { return make_own_private_key(); });
}

EngineSettings Key::engine_settings() const {
  EngineSettings settings = provider_.configuration().engine;
  if (settings.rsa_alone_bits == 0) settings.rsa_alone_bits = usual_alone_bits(delegate());
  return settings;
}

std::unique_ptr<PrivateKey> Key::make_private_key() const {
  if (is_reference_) return make_daemon_key(provider_, subject_public_key_info_);
  const bool by_daemon = has_private_ && provider_.configuration().mode == Mode::daemon;
  return by_daemon ? make_daemon_key(provider_, delegate()) : make_own_private_key();
}

std::unique_ptr<PrivateKey> Key::make_own_private_key() const {
  if (!has_private_) return nullptr;
  ERR_set_mark();
  std::unique_ptr<PrivateKey> made;
  if (kind_ == Kind::rsa || kind_ == Kind::rsa_pss) {
    made = make_service_key(engine_settings(), rsa_numbers(delegate()));
  } else if (const std::optional<CurveSecret> secret = curve_secret(delegate(), kind_)) {
    made = make_service_key(engine_settings(), *secret);
  }
  ERR_pop_to_mark();
  return made;
}

}  // namespace manymod::provider
