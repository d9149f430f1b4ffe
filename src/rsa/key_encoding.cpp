// SPDX-License-Identifier: Apache-2.0
// Keys from PEM and DER, parsed by libcrypto's decoders.
#include <openssl/core_names.h>
#include <openssl/decoder.h>

#include <climits>
#include <cstring>
#include <string>
#include <string_view>

#include "rsa/key.hpp"

namespace manymod::rsa {
namespace {

struct FreeDecoder {
  void operator()(OSSL_DECODER_CTX* context) const { OSSL_DECODER_CTX_free(context); }
};

// An OSSL_PASSPHRASE_CALLBACK, whose last argument is the password (mm_bytes). Without a callback libcrypto
// would prompt on the terminal.
int give_password(char* buffer, std::size_t room, std::size_t* size, const OSSL_PARAM*, void* user) {
  const auto& password = *static_cast<const mm_bytes*>(user);
  if (password.data == nullptr || password.size > room) return 0;
  if (password.size != 0) std::memcpy(buffer, password.data, password.size);
  *size = password.size;
  return 1;
}

// The parameter of that name; null if the key does not have it.
Number number_of(const EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &number) != 1) return nullptr;
  BN_set_flags(number, BN_FLG_CONSTTIME);
  return Number(number);
}

// Why libcrypto could not parse an encoding.
std::string parse_failure_reason(std::string_view text, bool has_password) {
  const auto has = [text](const char* word) { return text.find(word) != std::string_view::npos; };
  if (has("-----BEGIN OPENSSH PRIVATE KEY")) {
    return "an OpenSSH key: convert it with ssh-keygen -p -m PEM";
  }
  const bool pem = has("-----BEGIN ");
  if (pem && !has("-----END ")) return "truncated PEM, it has no END line";
  if (pem && has("ENCRYPTED")) {
    return has_password ? "encrypted: its password is wrong, or it is not an RSA key"
                        : "encrypted: its password is needed";
  }
  return "neither PEM nor DER of an RSA key, or its password is missing or wrong";
}

Libcrypto<EVP_PKEY> decoded(const mm_bytes& encoded, const mm_bytes& password) {
  EVP_PKEY* key = nullptr;
  const std::unique_ptr<OSSL_DECODER_CTX, FreeDecoder> context(
      OSSL_DECODER_CTX_new_for_pkey(&key, nullptr, nullptr, "RSA", 0, nullptr, nullptr));
  require_crypto(context != nullptr, "OSSL_DECODER_CTX_new_for_pkey");
  mm_bytes given = password;
  require_crypto(OSSL_DECODER_CTX_set_passphrase_cb(context.get(), give_password, &given) == 1,
                 "OSSL_DECODER_CTX_set_passphrase_cb");
  const unsigned char* data = encoded.data;
  std::size_t size = encoded.size;
  const int done = OSSL_DECODER_from_data(context.get(), &data, &size);
  Libcrypto<EVP_PKEY> owned(key);
  if (done != 1 || !owned) {
    const std::string_view text(reinterpret_cast<const char*>(encoded.data), encoded.size);
    throw StatusError(MM_ERR_KEY, "RSA key: " + parse_failure_reason(text, password.data != nullptr));
  }
  return owned;
}

}  // namespace

std::shared_ptr<const Key> key_from_encoding(const mm_bytes& encoded, const mm_bytes& password,
                                             const KeyRules& rules) {
  if (encoded.data == nullptr) throw StatusError(MM_ERR_NULL, "encoded is NULL");
  // libcrypto converts the size to int.
  if (encoded.size > INT_MAX) throw StatusError(MM_ERR_KEY, "RSA key: longer than 2^31 - 1 bytes");
  const QuietErrors quiet;
  const Libcrypto<EVP_PKEY> key = decoded(encoded, password);
  if (number_of(key.get(), OSSL_PKEY_PARAM_RSA_FACTOR3)) {
    throw StatusError(MM_ERR_KEY, "RSA key: it has more than two primes");
  }
  KeyNumbers numbers;
  numbers.n = number_of(key.get(), OSSL_PKEY_PARAM_RSA_N);
  numbers.e = number_of(key.get(), OSSL_PKEY_PARAM_RSA_E);
  numbers.d = number_of(key.get(), OSSL_PKEY_PARAM_RSA_D);
  numbers.p = number_of(key.get(), OSSL_PKEY_PARAM_RSA_FACTOR1);
  numbers.q = number_of(key.get(), OSSL_PKEY_PARAM_RSA_FACTOR2);
  numbers.dp = number_of(key.get(), OSSL_PKEY_PARAM_RSA_EXPONENT1);
  numbers.dq = number_of(key.get(), OSSL_PKEY_PARAM_RSA_EXPONENT2);
  numbers.qinv = number_of(key.get(), OSSL_PKEY_PARAM_RSA_COEFFICIENT1);
  return std::make_shared<const Key>(std::move(numbers), rules);
}

}  // namespace manymod::rsa
