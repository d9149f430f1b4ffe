// SPDX-License-Identifier: Apache-2.0
#include "key_generation.hpp"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/obj_mac.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "curves.hpp"
#include "job.hpp"

namespace manymod::provider {
namespace {

/// What reports progress as libcrypto's key generation does, and how.
struct Progress {
  OSSL_CALLBACK* callback;
  void* argument;

  static int report(EVP_PKEY_CTX* context) {
    const auto* const progress = static_cast<const Progress*>(EVP_PKEY_CTX_get_app_data(context));
    int potential = EVP_PKEY_CTX_get_keygen_info(context, 0);
    int iteration = EVP_PKEY_CTX_get_keygen_info(context, 1);
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_int(OSSL_GEN_PARAM_POTENTIAL, &potential),
                                     OSSL_PARAM_construct_int(OSSL_GEN_PARAM_ITERATION, &iteration),
                                     OSSL_PARAM_construct_end()};
    return progress->callback(parameters, progress->argument);
  }
};

constexpr std::size_t kP384Bytes = 48;

bool names_p384(const OSSL_PARAM parameters[]) {
  const OSSL_PARAM* const group = OSSL_PARAM_locate_const(parameters, OSSL_PKEY_PARAM_GROUP_NAME);
  const char* name = nullptr;
  if (group == nullptr || OSSL_PARAM_get_utf8_string_ptr(group, &name) == 0) return false;
  return is_p384(name);
}

/// Whether all parameters are compatible with a random key on a named curve. Others are left to the default
/// provider, for instance the input of HPKE's DeriveKeyPair (RFC 9180, section 7.1.3), which determines the
/// key.
bool are_of_random_keys(const OSSL_PARAM parameters[]) {
  static constexpr std::array<std::string_view, 4> kKnown = {
      OSSL_PKEY_PARAM_GROUP_NAME, OSSL_PKEY_PARAM_EC_ENCODING, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
      OSSL_PKEY_PARAM_USE_COFACTOR_ECDH};
  const OSSL_PARAM* parameter = parameters;
  while (parameter->key != nullptr && std::ranges::find(kKnown, parameter->key) != kKnown.end()) ++parameter;
  return parameter->key == nullptr;
}

/// A copy of the parameters that does not point to the caller's memory: OSSL_PARAM_dup copies the values,
/// but only the pointers to the names. These are replaced by the equal names in `known`, or by "" if it has
/// none.
Libcrypto<OSSL_PARAM> copy_of(const OSSL_PARAM parameters[], const OSSL_PARAM known[]) {
  Libcrypto<OSSL_PARAM> copy(OSSL_PARAM_dup(parameters));
  for (OSSL_PARAM* each = copy.get(); each != nullptr && each->key != nullptr; ++each) {
    const OSSL_PARAM* const found = OSSL_PARAM_locate_const(known, each->key);
    each->key = found == nullptr ? "" : found->key;
  }
  return copy;
}

/// A uniform secret 0 < d < n of P-384; null without randomness.
Libcrypto<BIGNUM> random_secret(OSSL_LIB_CTX* library) {
  const Libcrypto<EC_GROUP> group(EC_GROUP_new_by_curve_name_ex(library, kDelegate, NID_secp384r1));
  const Libcrypto<BN_CTX> context(BN_CTX_secure_new_ex(library));
  Libcrypto<BIGNUM> secret(BN_secure_new());
  if (group == nullptr || context == nullptr || secret == nullptr) return nullptr;
  do {
    if (BN_priv_rand_range_ex(secret.get(), EC_GROUP_get0_order(group.get()), 0, context.get()) <= 0) {
      return nullptr;
    }
  } while (BN_is_zero(secret.get()) != 0);
  return secret;
}

}  // namespace

KeyGeneration* KeyGeneration::begin(const Provider& provider, Kind kind, int selection,
                                    const OSSL_PARAM parameters[]) {
  return guarded(provider, [&]() -> KeyGeneration* {
    const bool whole_key = (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0;
    std::unique_ptr<KeyGeneration> generation(new KeyGeneration(provider, kind, whole_key));
    Libcrypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(provider.library(), name_of(kind), kDelegate));
    if (!generation->start(std::move(context)) || !generation->set_parameters(parameters)) return nullptr;
    return generation.release();
  });
}

bool KeyGeneration::start(Libcrypto<EVP_PKEY_CTX> context) {
  if (context == nullptr) return false;
  const int started =
      whole_key_ ? EVP_PKEY_keygen_init(context.get()) : EVP_PKEY_paramgen_init(context.get());
  if (started <= 0) return false;
  context_ = std::move(context);
  return given_ == nullptr || EVP_PKEY_CTX_set_params(context_.get(), given_.get()) > 0;
}

bool KeyGeneration::set_parameters(const OSSL_PARAM parameters[]) {
  if (parameters == nullptr || parameters->key == nullptr) return true;
  // The result of OSSL_PARAM_merge points into both arrays, so that it is copied.
  const Libcrypto<OSSL_PARAM> merged(given_ == nullptr ? nullptr
                                                       : OSSL_PARAM_merge(given_.get(), parameters));
  if (given_ != nullptr && merged == nullptr) return false;
  given_ =
      copy_of(given_ == nullptr ? parameters : merged.get(), EVP_PKEY_CTX_settable_params(context_.get()));
  if (given_ == nullptr) return false;
  return EVP_PKEY_CTX_set_params(context_.get(), parameters) > 0;
}

bool KeyGeneration::set_template(const Key& key) {
  OSSL_PARAM* parameters = nullptr;
  if (kind_ == Kind::ec) EVP_PKEY_todata(key.delegate(), EVP_PKEY_KEY_PARAMETERS, &parameters);
  of_template_.reset(parameters);
  return start(
      Libcrypto<EVP_PKEY_CTX>(EVP_PKEY_CTX_new_from_pkey(provider_.library(), key.delegate(), kDelegate)));
}

KeyOwner KeyGeneration::generate_here() {
  const OSSL_PARAM* const group = of_template_ != nullptr ? of_template_.get() : given_.get();
  if (kind_ != Kind::ec || !whole_key_ || group == nullptr || !names_p384(group)) return nullptr;
  // With a template, further parameters refer to the template's curve: the default provider applies them.
  if (given_ != nullptr && (of_template_ != nullptr || !are_of_random_keys(given_.get()))) return nullptr;
  if (current_job() != nullptr) return nullptr;
  const Libcrypto<BIGNUM> number = random_secret(provider_.library());
  if (number == nullptr) return nullptr;
  SecretBytes secret(kP384Bytes);
  SecretBytes native(kP384Bytes);  // in the machine's byte order, as in OSSL_PARAM
  BN_bn2binpad(number.get(), secret.data(), kP384Bytes);
  BN_bn2nativepad(number.get(), native.data(), kP384Bytes);
  SecretBytes point;
  try {
    ecc::Plan& plan = shared_plan("P-384", provider_.configuration().engine);
    point = compute_on_curve(plan, MM_ECC_PUBLIC_KEY, secret);
  } catch (const Error&) {  // such as that of a device
    return nullptr;
  }
  const OSSL_PARAM pair[] = {
      OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native.data(), native.size()),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()),
      OSSL_PARAM_construct_end()};
  const Libcrypto<OSSL_PARAM> all(OSSL_PARAM_merge(group, pair));
  KeyOwner key(new Key(provider_, kind_));
  return all != nullptr && key->import(EVP_PKEY_KEYPAIR, all.get()) ? std::move(key) : nullptr;
}

Key* KeyGeneration::generate(OSSL_CALLBACK* progress, void* argument) {
  return guarded(provider_, [&]() -> Key* {
    if (KeyOwner key = generate_here()) return key.release();
    Progress told{progress, argument};
    if (progress != nullptr) {
      EVP_PKEY_CTX_set_app_data(context_.get(), &told);
      EVP_PKEY_CTX_set_cb(context_.get(), &Progress::report);
    }
    EVP_PKEY* made = nullptr;
    if (EVP_PKEY_generate(context_.get(), &made) <= 0) return nullptr;
    Libcrypto<EVP_PKEY> owner(made);
    KeyOwner key(new Key(provider_, kind_));
    key->adopt(std::move(owner));
    return key.release();
  });
}

}  // namespace manymod::provider
