// SPDX-License-Identifier: Apache-2.0
// KEYMGMT (provider-keymgmt(7)): keys of all kinds. What is asked of them is asked of the default provider's
// key that each of them has.
#include <openssl/core_names.h>
#include <openssl/obj_mac.h>

#include <array>
#include <string_view>

#include "key.hpp"
#include "key_generation.hpp"
#include "parameters.hpp"
#include "provider.hpp"

namespace manymod::provider {
namespace {

Key& key_of(void* key) { return *static_cast<Key*>(key); }
const Key& key_of(const void* key) { return *static_cast<const Key*>(key); }

template <Kind kKind>
void* create_key(void* context) {
  return new (std::nothrow) Key(provider_of(context), kKind);
}

void release_key(void* key) {
  if (key != nullptr) key_of(key).release();
}

/// Take the key that a decoder made, whose reference is the pointer to it.
void* load(const void* reference, std::size_t size) {
  if (size != sizeof(Key*)) return nullptr;
  Key** const key = static_cast<Key**>(const_cast<void*>(reference));
  return std::exchange(*key, nullptr);
}

int has(const void* key, int selection) {
  if (key == nullptr) return 0;
  const Key& own = key_of(key);
  if (own.is_empty()) return 0;
  if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0 && !own.has_public()) return 0;
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0 && !own.has_private()) return 0;
  return 1;
}

int import_key(void* key, int selection, const OSSL_PARAM parameters[]) {
  Key& own = key_of(key);
  return guarded(own.provider(), [&] { return own.import(selection, parameters) ? 1 : 0; });
}

/// Private numbers are exported for operations that this provider lacks, such as encoding. The private
/// numbers of a reference are not in this process.
int export_key(void* key, int selection, OSSL_CALLBACK* callback, void* argument) {
  const Key& own = key_of(key);
  if (own.is_empty()) return 0;
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0 && own.is_reference()) {
    own.provider().raise(Reason::not_private, "the key is a reference to a key of manymod-signd");
    return 0;
  }
  // EVP_PKEY_print_params(3) exports the parameters alone to the default provider's encoder, which crashes
  // when it prints an RSA key that has no modulus.
  const bool is_rsa = own.kind() == Kind::rsa || own.kind() == Kind::rsa_pss;
  if (is_rsa && (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return 0;
  return own.export_parts(selection, callback, argument) ? 1 : 0;
}

int get_params(void* key, OSSL_PARAM parameters[]) { return key_of(key).get_parameters(parameters) ? 1 : 0; }

int set_params(void* key, const OSSL_PARAM parameters[]) {
  return key_of(key).set_parameters(parameters) ? 1 : 0;
}

int match(const void* first, const void* second, int selection) {
  EVP_PKEY* const a = key_of(first).delegate();
  EVP_PKEY* const b = key_of(second).delegate();
  if (a == nullptr || b == nullptr) return 0;
  const bool of_keys = (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0;
  return (of_keys ? EVP_PKEY_eq(a, b) : EVP_PKEY_parameters_eq(a, b)) == 1 ? 1 : 0;
}

/// Whether the key is on a curve of prime order. Every point of such a curve but infinity is a multiple of
/// the generator, so that the default provider's full check, which multiplies the point by the order, is not
/// needed.
bool is_on_curve_of_prime_order(const Key& key) {
  std::array<char, 32> group{};
  if (key.kind() != Kind::ec ||
      EVP_PKEY_get_group_name(key.delegate(), group.data(), group.size(), nullptr) == 0) {
    return false;
  }
  const std::string_view name = group.data();
  return name == SN_X9_62_prime256v1 || name == SN_secp384r1 || name == SN_secp521r1;
}

int validate(const void* key, int selection, int type) {
  const Key& own = key_of(key);
  const bool quick = type == OSSL_KEYMGMT_VALIDATE_QUICK_CHECK;
  return guarded(own.provider(), [&] {
    const Libcrypto<EVP_PKEY_CTX> context(
        EVP_PKEY_CTX_new_from_pkey(own.provider().library(), own.delegate(), kDelegate));
    if (context == nullptr) return 0;
    EVP_PKEY_CTX* const check = context.get();
    if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0 && !own.is_reference()) {
      const bool pair = (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0;
      return (pair ? EVP_PKEY_pairwise_check(check) : EVP_PKEY_private_check(check)) == 1 ? 1 : 0;
    }
    if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0) {
      const bool partly = quick || is_on_curve_of_prime_order(own);
      return (partly ? EVP_PKEY_public_check_quick(check) : EVP_PKEY_public_check(check)) == 1 ? 1 : 0;
    }
    if ((selection & OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS) != 0 && own.kind() == Kind::ec) {
      return (quick ? EVP_PKEY_param_check_quick(check) : EVP_PKEY_param_check(check)) == 1 ? 1 : 0;
    }
    return 1;
  });
}

void* duplicate(const void* key, int selection) {
  const Key& own = key_of(key);
  return guarded(own.provider(), [&]() -> void* { return own.duplicate(selection); });
}

template <Kind kKind>
const OSSL_PARAM* gettable_params(void* context) {
  const Libcrypto<EVP_KEYMGMT> management(
      EVP_KEYMGMT_fetch(provider_of(context).library(), name_of(kKind), kDelegate));
  return management == nullptr ? nullptr : EVP_KEYMGMT_gettable_params(management.get());
}

template <Kind kKind>
const OSSL_PARAM* settable_params(void* context) {
  const Libcrypto<EVP_KEYMGMT> management(
      EVP_KEYMGMT_fetch(provider_of(context).library(), name_of(kKind), kDelegate));
  return management == nullptr ? nullptr : EVP_KEYMGMT_settable_params(management.get());
}

template <Kind kKind>
const OSSL_PARAM* key_types(int) {
  return key_parameters(kKind);
}

template <Kind kKind>
const char* operation_name(int operation) {
  switch (kKind) {
    case Kind::rsa:
    case Kind::rsa_pss:
      return "RSA";
    case Kind::ec:
      return operation == OSSL_OP_KEYEXCH ? "ECDH" : operation == OSSL_OP_SIGNATURE ? "ECDSA" : "EC";
    default:
      return name_of(kKind);
  }
}

template <Kind kKind>
void* begin_generation(void* context, int selection, const OSSL_PARAM parameters[]) {
  return KeyGeneration::begin(provider_of(context), kKind, selection, parameters);
}

template <Kind kKind>
const OSSL_PARAM* generation_params(void*, void* context) {
  const Libcrypto<EVP_KEYMGMT> management(
      EVP_KEYMGMT_fetch(provider_of(context).library(), name_of(kKind), kDelegate));
  return management == nullptr ? nullptr : EVP_KEYMGMT_gen_settable_params(management.get());
}

int set_generation_params(void* generation, const OSSL_PARAM parameters[]) {
  return static_cast<KeyGeneration*>(generation)->set_parameters(parameters) ? 1 : 0;
}

int set_generation_template(void* generation, void* key) {
  return static_cast<KeyGeneration*>(generation)->set_template(key_of(key)) ? 1 : 0;
}

void* generate(void* generation, OSSL_CALLBACK* callback, void* argument) {
  return static_cast<KeyGeneration*>(generation)->generate(callback, argument);
}

void end_generation(void* generation) { delete static_cast<KeyGeneration*>(generation); }

template <Kind kKind>
const OSSL_DISPATCH* functions() {
  static const OSSL_DISPATCH table[] = {
      entry(OSSL_FUNC_KEYMGMT_NEW, create_key<kKind>),
      entry(OSSL_FUNC_KEYMGMT_FREE, release_key),
      entry(OSSL_FUNC_KEYMGMT_LOAD, load),
      entry(OSSL_FUNC_KEYMGMT_HAS, has),
      entry(OSSL_FUNC_KEYMGMT_IMPORT, import_key),
      entry(OSSL_FUNC_KEYMGMT_IMPORT_TYPES, key_types<kKind>),
      entry(OSSL_FUNC_KEYMGMT_EXPORT, export_key),
      entry(OSSL_FUNC_KEYMGMT_EXPORT_TYPES, key_types<kKind>),
      entry(OSSL_FUNC_KEYMGMT_GET_PARAMS, get_params),
      entry(OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, gettable_params<kKind>),
      entry(OSSL_FUNC_KEYMGMT_SET_PARAMS, set_params),
      entry(OSSL_FUNC_KEYMGMT_SETTABLE_PARAMS, settable_params<kKind>),
      entry(OSSL_FUNC_KEYMGMT_MATCH, match),
      entry(OSSL_FUNC_KEYMGMT_VALIDATE, validate),
      entry(OSSL_FUNC_KEYMGMT_DUP, duplicate),
      entry(OSSL_FUNC_KEYMGMT_QUERY_OPERATION_NAME, operation_name<kKind>),
      entry(OSSL_FUNC_KEYMGMT_GEN_INIT, begin_generation<kKind>),
      entry(OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS, set_generation_params),
      entry(OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS, generation_params<kKind>),
      entry(OSSL_FUNC_KEYMGMT_GEN_SET_TEMPLATE, set_generation_template),
      entry(OSSL_FUNC_KEYMGMT_GEN, generate),
      entry(OSSL_FUNC_KEYMGMT_GEN_CLEANUP, end_generation),
      {0, nullptr}};
  return table;
}

}  // namespace

std::span<const Algorithm> key_management() {
  static const Algorithm all[] = {{"RSA",
                                   {"RSA:rsaEncryption:1.2.840.113549.1.1.1", MANYMOD_PROVIDER_PROPERTIES,
                                    functions<Kind::rsa>(), "RSA by manymod"}},
                                  {"RSA",
                                   {"RSA-PSS:RSASSA-PSS:1.2.840.113549.1.1.10", MANYMOD_PROVIDER_PROPERTIES,
                                    functions<Kind::rsa_pss>(), "RSASSA-PSS by manymod"}},
                                  {"EC",
                                   {"EC:id-ecPublicKey:1.2.840.10045.2.1", MANYMOD_PROVIDER_PROPERTIES,
                                    functions<Kind::ec>(), "EC by manymod"}},
                                  {"ED25519",
                                   {"ED25519:1.3.101.112", MANYMOD_PROVIDER_PROPERTIES,
                                    functions<Kind::ed25519>(), "Ed25519 by manymod"}}};
  return all;
}

}  // namespace manymod::provider
