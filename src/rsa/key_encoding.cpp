// SPDX-License-Identifier: Apache-2.0
// RSA keys from PEM and DER.
#include <openssl/core_names.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "crypto/hash.hpp"
#include "crypto/key_encoding.hpp"
#include "rsa/hashes.hpp"
#include "rsa/key.hpp"

namespace manymod::rsa {
namespace {

constexpr const char* kAlgorithms[] = {"RSA", "RSA-PSS"};
constexpr std::string_view kSshPrefixes[] = {"ssh-rsa"};
constexpr crypto::KeyFamily kFamily{kAlgorithms, kSshPrefixes, "RSA PRIVATE KEY",
                                    "RSA key",   "not RSA",    "an RSA key"};

// On input: kind <= MM_RSA_KEY_PUBLIC.
crypto::WantedKey wanted(std::size_t kind) {
  if (kind == MM_RSA_KEY_PUBLIC) return crypto::WantedKey::public_;
  return kind == MM_RSA_KEY_ANY ? crypto::WantedKey::any : crypto::WantedKey::private_;
}

mm_rsa_unread_reason reason_of(crypto::Unread reason) {
  switch (reason) {
    case crypto::Unread::openssh:
      return MM_RSA_UNREAD_OPENSSH;
    case crypto::Unread::encryption:
      return MM_RSA_UNREAD_ENCRYPTION;
    case crypto::Unread::other:
      break;
  }
  return MM_RSA_UNREAD_OTHER;
}

// decode_key, which tells in `unread`, unless it is null, why it finds no key.
crypto::DecodedKey decoded(const mm_bytes& encoded, const mm_bytes& password, crypto::WantedKey wanted,
                           mm_rsa_unread* unread) {
  try {
    return crypto::decode_key(encoded, password, wanted, kFamily);
  } catch (const crypto::UnreadKeyError& error) {
    if (unread != nullptr) *unread = {reason_of(error.reason()), error.part()};
    throw;
  }
}

KeyNumbers numbers_of(const EVP_PKEY* key) {
  KeyNumbers numbers;
  numbers.n = crypto::number_of(key, OSSL_PKEY_PARAM_RSA_N);
  numbers.e = crypto::number_of(key, OSSL_PKEY_PARAM_RSA_E);
  numbers.d = crypto::number_of(key, OSSL_PKEY_PARAM_RSA_D);
  numbers.p = crypto::number_of(key, OSSL_PKEY_PARAM_RSA_FACTOR1);
  numbers.q = crypto::number_of(key, OSSL_PKEY_PARAM_RSA_FACTOR2);
  numbers.dp = crypto::number_of(key, OSSL_PKEY_PARAM_RSA_EXPONENT1);
  numbers.dq = crypto::number_of(key, OSSL_PKEY_PARAM_RSA_EXPONENT2);
  numbers.qinv = crypto::number_of(key, OSSL_PKEY_PARAM_RSA_COEFFICIENT1);
  for (int i = 3; i <= MM_RSA_MAX_PRIMES; ++i) {
    crypto::Number prime = crypto::number_of(key, "rsa-factor" + std::to_string(i));
    if (!prime) break;
    numbers.others.push_back({std::move(prime), crypto::number_of(key, "rsa-exponent" + std::to_string(i)),
                              crypto::number_of(key, "rsa-coefficient" + std::to_string(i - 1))});
  }
  return numbers;
}

// The hash that a parameter of the key names; SHA-1 if it names none.
mm_hash hash_of(const EVP_PKEY* key, const char* parameter) {
  std::array<char, 64> name{};
  if (EVP_PKEY_get_utf8_string_param(key, parameter, name.data(), name.size(), nullptr) != 1) {
    return MM_SHA1;
  }
  const crypto::HashFacts* hash = crypto::find_hash_by_name(name.data());
  if (hash != nullptr && find_rsa_hash(hash->hash) != nullptr) return hash->hash;
  crypto::reject_key(std::string("for RSASSA-PSS with a hash that is not supported: ") + name.data(),
                     kFamily);
}

// Parameters of id-RSASSA-PSS (RFC 4055): libcrypto gives the length of salts if there are any, and the
// hashes unless they are SHA-1.
mm_rsa_pss_limits pss_of(const EVP_PKEY* key) {
  mm_rsa_pss_limits pss{};
  if (EVP_PKEY_is_a(key, "RSA-PSS") != 1) return pss;
  pss.only = 1;
  if (EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_RSA_PSS_SALTLEN, &pss.least_salt) != 1) return pss;
  pss.hash = hash_of(key, OSSL_PKEY_PARAM_RSA_DIGEST);
  pss.mgf_hash = hash_of(key, OSSL_PKEY_PARAM_RSA_MGF1_DIGEST);
  return pss;
}

}  // namespace

std::shared_ptr<const Key> key_from_encoding(const mm_bytes& encoded, const mm_rsa_decode_options& options) {
  if (options.unread != nullptr) *options.unread = {MM_RSA_UNREAD_NONE, {}};
  if (options.kind > MM_RSA_KEY_PUBLIC) {
    throw StatusError(MM_ERR_ARGUMENT,
                      "kind is " + std::to_string(options.kind) + ", which is not an mm_rsa_key_kind");
  }
  const crypto::DecodedKey found = decoded(encoded, options.password, wanted(options.kind), options.unread);
  KeyNumbers numbers = numbers_of(found.key.get());
  return std::make_shared<const Key>(std::move(numbers), KeyRules{options.checks, options.max_exponent_bits},
                                     pss_of(found.key.get()));
}

}  // namespace manymod::rsa
