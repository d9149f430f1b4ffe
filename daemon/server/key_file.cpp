// SPDX-License-Identifier: Apache-2.0
#include "server/key_file.hpp"

#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <stdexcept>
#include <string_view>

#include "common/secret_file.hpp"
#include "server/token_key.hpp"

namespace manymod::signd {
namespace {

struct FreeCrypto {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(OSSL_DECODER_CTX* context) const { OSSL_DECODER_CTX_free(context); }
};
template <class T>
using Crypto = std::unique_ptr<T, FreeCrypto>;

std::string path_of(const KeyConfig& config) {
  return config.credential.empty() ? config.file : credential_path(config.credential);
}

Crypto<EVP_PKEY> decode(std::string_view encoded, std::string_view password) {
  EVP_PKEY* decoded = nullptr;
  const Crypto<OSSL_DECODER_CTX> context(OSSL_DECODER_CTX_new_for_pkey(
      &decoded, nullptr, nullptr, nullptr, OSSL_KEYMGMT_SELECT_PRIVATE_KEY, nullptr, nullptr));
  if (!context) throw std::bad_alloc();
  // With no password an empty one is set, lest libcrypto asks on the terminal.
  if (password.data() == nullptr) password = "";
  static_cast<void>(OSSL_DECODER_CTX_set_passphrase(
      context.get(), reinterpret_cast<const unsigned char*>(password.data()), password.size()));
  const auto* bytes = reinterpret_cast<const unsigned char*>(encoded.data());
  std::size_t size = encoded.size();
  const int done = OSSL_DECODER_from_data(context.get(), &bytes, &size);
  ERR_clear_error();
  if (done != 1 || decoded == nullptr) {
    throw std::runtime_error("no private key could be read; is the password right?");
  }
  return Crypto<EVP_PKEY>(decoded);
}

// One public key has one encoding here, whatever the file had.
void identify(EVP_PKEY* key, LoadedKey& loaded) {
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_EC) {
    static_cast<void>(
        EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed"));
  }
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  if (size <= 0) throw std::runtime_error("its public key cannot be encoded");
  loaded.subject_public_key_info.assign(der, der + size);
  OPENSSL_free(der);
  std::size_t digest_bytes = 0;
  if (EVP_Q_digest(nullptr, "SHA256", nullptr, loaded.subject_public_key_info.data(),
                   loaded.subject_public_key_info.size(), loaded.id.data(), &digest_bytes) != 1) {
    throw std::runtime_error("libcrypto has no SHA-256");
  }
}

LoadedKey load(std::string_view encoded, std::string_view password, std::uint32_t max_key_bits) {
  const Crypto<EVP_PKEY> decoded = decode(encoded, password);
  const int type = EVP_PKEY_get_base_id(decoded.get());
  if (type == EVP_PKEY_RSA || type == EVP_PKEY_RSA_PSS) {
    LoadedKey loaded{
        {}, {}, rsa::Key::decode(encoded, password, 0, MM_RSA_EXPONENT_BITS, MM_RSA_KEY_PRIVATE)};
    if (std::get<rsa::Key>(loaded.key).info().modulus_bits > max_key_bits) {
      throw std::runtime_error("the key is longer than max_key_bits");
    }
    identify(decoded.get(), loaded);
    return loaded;
  }
  LoadedKey loaded{{}, {}, ecc::Key(encoded, password)};
  if (std::get<ecc::Key>(loaded.key).info().secret.size == 0) throw std::runtime_error("not a private key");
  identify(decoded.get(), loaded);
  return loaded;
}

LoadedKey load_file(const std::string& path, const std::string& password_file, std::uint32_t max_key_bits) {
  const SecretBytes file = read_secret_file(path);
  if (password_file.empty()) return load(file.text(), {}, max_key_bits);
  const SecretBytes password = read_secret_file(password_file);
  return load(file.text(), first_line(password.text()), max_key_bits);
}

}  // namespace

LoadedKey load_key(const KeyConfig& config, std::uint32_t max_key_bits) {
  std::string source = config.token.module.empty() ? "its file" : config.token.object;
  try {
    if (!config.token.module.empty()) return load(read_token_key(config.token).text(), {}, max_key_bits);
    source = path_of(config);
    return load_file(source, config.password_file, max_key_bits);
  } catch (const std::exception& error) {
    throw std::runtime_error("[key." + config.name + "] " + source + ": " + error.what());
  }
}

}  // namespace manymod::signd
