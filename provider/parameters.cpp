// SPDX-License-Identifier: Apache-2.0
#include "parameters.hpp"

#include <openssl/core_names.h>

#include <algorithm>
#include <array>

namespace manymod::provider {
namespace {

char in_lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Of RSA keys with up to ten primes.
#define MANYMOD_RSA_PARAMETERS                                                                        \
  OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_N, nullptr, 0), OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_E, nullptr, 0), \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_D, nullptr, 0),                                               \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_FACTOR1, nullptr, 0),                                         \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_FACTOR2, nullptr, 0),                                         \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_FACTOR3, nullptr, 0),                                         \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_FACTOR4, nullptr, 0),                                         \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_FACTOR5, nullptr, 0),                                         \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_EXPONENT1, nullptr, 0),                                       \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_EXPONENT2, nullptr, 0),                                       \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_EXPONENT3, nullptr, 0),                                       \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_EXPONENT4, nullptr, 0),                                       \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_EXPONENT5, nullptr, 0),                                       \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_COEFFICIENT1, nullptr, 0),                                    \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_COEFFICIENT2, nullptr, 0),                                    \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_COEFFICIENT3, nullptr, 0),                                    \
      OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_COEFFICIENT4, nullptr, 0)

const OSSL_PARAM kRsa[] = {MANYMOD_RSA_PARAMETERS, OSSL_PARAM_END};
const OSSL_PARAM kRsaPss[] = {MANYMOD_RSA_PARAMETERS,
                              OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_RSA_DIGEST, nullptr, 0),
                              OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_RSA_MASKGENFUNC, nullptr, 0),
                              OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_RSA_MGF1_DIGEST, nullptr, 0),
                              OSSL_PARAM_int(OSSL_PKEY_PARAM_RSA_PSS_SALTLEN, nullptr),
                              OSSL_PARAM_END};
#undef MANYMOD_RSA_PARAMETERS
const OSSL_PARAM kEc[] = {OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
                          OSSL_PARAM_BN(OSSL_PKEY_PARAM_PRIV_KEY, nullptr, 0),
                          OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, nullptr, 0),
                          OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_EC_ENCODING, nullptr, 0),
                          OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, nullptr, 0),
                          OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_EC_FIELD_TYPE, nullptr, 0),
                          OSSL_PARAM_BN(OSSL_PKEY_PARAM_EC_P, nullptr, 0),
                          OSSL_PARAM_BN(OSSL_PKEY_PARAM_EC_A, nullptr, 0),
                          OSSL_PARAM_BN(OSSL_PKEY_PARAM_EC_B, nullptr, 0),
                          OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_EC_GENERATOR, nullptr, 0),
                          OSSL_PARAM_BN(OSSL_PKEY_PARAM_EC_ORDER, nullptr, 0),
                          OSSL_PARAM_BN(OSSL_PKEY_PARAM_EC_COFACTOR, nullptr, 0),
                          OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_EC_SEED, nullptr, 0),
                          OSSL_PARAM_int(OSSL_PKEY_PARAM_USE_COFACTOR_ECDH, nullptr),
                          OSSL_PARAM_int(OSSL_PKEY_PARAM_EC_INCLUDE_PUBLIC, nullptr),
                          OSSL_PARAM_END};
const OSSL_PARAM kBytes[] = {OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
                             OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, nullptr, 0), OSSL_PARAM_END};

}  // namespace

const OSSL_PARAM* key_parameters(Kind kind) {
  switch (kind) {
    case Kind::rsa:
      return kRsa;
    case Kind::rsa_pss:
      return kRsaPss;
    case Kind::ec:
      return kEc;
    case Kind::ed25519:
      break;
  }
  return kBytes;
}

bool is_same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, in_lower_case, in_lower_case);
}

std::string text_of(EVP_PKEY_CTX* context, const char* name) {
  std::array<char, 64> text{};
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(name, text.data(), text.size()),
                             OSSL_PARAM_construct_end()};
  if (EVP_PKEY_CTX_get_params(context, parameters) <= 0) return {};
  return text.data();
}

int number_of(EVP_PKEY_CTX* context, const char* name, int otherwise) {
  int number = otherwise;
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_int(name, &number), OSSL_PARAM_construct_end()};
  return EVP_PKEY_CTX_get_params(context, parameters) <= 0 ? otherwise : number;
}

}  // namespace manymod::provider
