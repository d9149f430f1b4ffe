// SPDX-License-Identifier: Apache-2.0
// RSA keys from PEM and DER: a key that libcrypto parses and finds right is accepted, and an accepted key is
// one whose numbers are in their ranges and whose operations agree. The first byte of an input chooses the
// options.
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <string>
#include <string_view>

#include "fuzz/rsa_oracle.hpp"

namespace manymod::fuzz {
namespace {

constexpr std::string_view kPassword = "password";  // of the encrypted seeds
constexpr int kLongestExponent = 64;  // longer ones may be refused, as they slow the caller down

Number number_of_key(const EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  return EVP_PKEY_get_bn_param(key, name, &number) == 1 ? Number(number) : nullptr;
}

// The key that libcrypto finds in the whole of `encoded` by its functions for DER; null if it finds none.
Crypto<EVP_PKEY> parsed_der(const Bytes& encoded) {
  const unsigned char* at = encoded.data();
  Crypto<EVP_PKEY> key(d2i_AutoPrivateKey(nullptr, &at, static_cast<long>(encoded.size())));
  if (!key) {
    at = encoded.data();
    key.reset(d2i_PUBKEY(nullptr, &at, static_cast<long>(encoded.size())));
  }
  return at == encoded.data() + encoded.size() ? std::move(key) : nullptr;
}

bool is_sound(EVP_PKEY* key) {
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA) return false;
  const Number n = number_of_key(key, OSSL_PKEY_PARAM_RSA_N);
  const Number e = number_of_key(key, OSSL_PKEY_PARAM_RSA_E);
  const Number d = number_of_key(key, OSSL_PKEY_PARAM_RSA_D);
  if (!n || !e || number_of_key(key, OSSL_PKEY_PARAM_RSA_FACTOR3)) return false;
  const int bits = BN_num_bits(n.get());
  if (bits < MM_RSA_MIN_BITS || bits > MM_RSA_MAX_BITS || BN_num_bits(e.get()) > kLongestExponent)
    return false;
  const Crypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new(key, nullptr));
  if (!d) {
    return BN_is_odd(n.get()) && BN_is_odd(e.get()) && !BN_is_one(e.get()) &&
           EVP_PKEY_public_check(context.get()) == 1;
  }
  return BN_cmp(d.get(), n.get()) < 0 && EVP_PKEY_check(context.get()) == 1;
}

void run(Choices& choices) {
  const std::uint8_t flags = choices.byte();
  mm_rsa_decode_options options{};
  options.struct_size = sizeof options;
  options.checks = (flags & 1) != 0 ? MM_RSA_CHECK_PRIMES : 0;
  if ((flags & 2) == 0) {
    options.password = {reinterpret_cast<const std::uint8_t*>(kPassword.data()), kPassword.size()};
  }
  const Bytes encoded = choices.all_the_rest();
  mm_rsa_unread unread{};
  options.unread = &unread;
  mm_rsa_key* created = nullptr;
  const mm_status status = mm_rsa_key_decode({encoded.data(), encoded.size()}, &options, &created);
  const Key key(created);
  require((status == MM_OK) == (created != nullptr), "a key and a failure, or neither");
  const mm_status refusal = encoded.data() == nullptr ? MM_ERR_NULL : MM_ERR_KEY;
  const std::string said = std::string(mm_status_name(status)) + ": " + mm_last_error();
  require(status == MM_OK || status == refusal, "mm_rsa_key_decode returned " + said);
  require(created == nullptr || unread.reason == MM_RSA_UNREAD_NONE, "a key that could not be read");
  const std::uint8_t* const part = unread.part.size == 0 ? encoded.data() : unread.part.data;
  require(part >= encoded.data() && part + unread.part.size <= encoded.data() + encoded.size(),
          "what could not be read is no part of the encoding");
  if (created != nullptr) check_key(created, options.checks != 0);
  const Crypto<EVP_PKEY> parsed = parsed_der(encoded);
  if (parsed && is_sound(parsed.get())) {
    require(created != nullptr, "libcrypto accepts a key that was refused: " + said);
    const Number n = number_of_key(parsed.get(), OSSL_PKEY_PARAM_RSA_N);
    const Number e = number_of_key(parsed.get(), OSSL_PKEY_PARAM_RSA_E);
    Bytes n_bytes(static_cast<std::size_t>(BN_num_bytes(n.get())));
    Bytes e_bytes(static_cast<std::size_t>(BN_num_bytes(e.get())));
    require(mm_rsa_key_get_public(created, n_bytes.data(), e_bytes.data()) == MM_OK, "mm_rsa_key_get_public");
    require(n_bytes == bytes_of(n) && e_bytes == bytes_of(e), "another key than libcrypto's");
  }
}

}  // namespace
}  // namespace manymod::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  manymod::fuzz::Choices choices(data, size);
  manymod::fuzz::run(choices);
  return 0;
}
