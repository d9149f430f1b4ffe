// SPDX-License-Identifier: Apache-2.0
#include "server/key_file.hpp"

#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "protocol/descriptor.hpp"

namespace manymod::signd {
namespace {

constexpr std::size_t kMaxFileBytes = 1U << 20;

struct FreeCrypto {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(OSSL_DECODER_CTX* context) const { OSSL_DECODER_CTX_free(context); }
};
template <class T>
using Crypto = std::unique_ptr<T, FreeCrypto>;

/// The content of a file, zeroed on destruction. It is never moved in memory.
class SecretFile {
 public:
  explicit SecretFile(const std::string& path) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) throw std::runtime_error(path + " cannot be opened");
    bytes_.resize(kMaxFileBytes);
    for (;;) {
      const ssize_t got = read(file.get(), bytes_.data() + size_, bytes_.size() - size_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw std::runtime_error(path + " cannot be read");
      size_ += static_cast<std::size_t>(got);
      if (got == 0) return;
      if (size_ == bytes_.size()) throw std::runtime_error(path + " is too long");
    }
  }
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;
  ~SecretFile() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), size_};
  }
  /// Without the end of the line.
  [[nodiscard]] std::string_view first_line() const {
    return text().substr(0, std::min(text().find_first_of("\r\n"), size_));
  }

 private:
  Bytes bytes_;
  std::size_t size_ = 0;
};

std::string path_of(const KeyConfig& config) {
  if (config.credential.empty()) return config.file;
  const char* const folder = std::getenv("CREDENTIALS_DIRECTORY");
  if (folder == nullptr) throw std::runtime_error("a credential, but CREDENTIALS_DIRECTORY is not set");
  return (std::filesystem::path(folder) / config.credential).string();
}

Crypto<EVP_PKEY> decode(const SecretFile& file, const std::optional<SecretFile>& password) {
  EVP_PKEY* decoded = nullptr;
  const Crypto<OSSL_DECODER_CTX> context(OSSL_DECODER_CTX_new_for_pkey(
      &decoded, nullptr, nullptr, nullptr, OSSL_KEYMGMT_SELECT_PRIVATE_KEY, nullptr, nullptr));
  if (!context) throw std::bad_alloc();
  // With no password an empty one is set, lest libcrypto asks on the terminal.
  const std::string_view word = password ? password->first_line() : std::string_view("");
  static_cast<void>(OSSL_DECODER_CTX_set_passphrase(
      context.get(), reinterpret_cast<const unsigned char*>(word.data()), word.size()));
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.text().data());
  std::size_t size = file.text().size();
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

LoadedKey load(const std::string& path, const KeyConfig& config, std::uint32_t max_key_bits) {
  const SecretFile file(path);
  std::optional<SecretFile> password;
  if (!config.password_file.empty()) password.emplace(config.password_file);
  const std::string_view word = password ? password->first_line() : std::string_view();
  const Crypto<EVP_PKEY> decoded = decode(file, password);
  const int type = EVP_PKEY_get_base_id(decoded.get());
  if (type == EVP_PKEY_RSA || type == EVP_PKEY_RSA_PSS) {
    LoadedKey loaded{
        {}, {}, rsa::Key::decode(file.text(), word, 0, MM_RSA_EXPONENT_BITS, MM_RSA_KEY_PRIVATE)};
    if (std::get<rsa::Key>(loaded.key).info().modulus_bits > max_key_bits) {
      throw std::runtime_error("the key is longer than max_key_bits");
    }
    identify(decoded.get(), loaded);
    return loaded;
  }
  LoadedKey loaded{{}, {}, ecc::Key(file.text(), word)};
  if (std::get<ecc::Key>(loaded.key).info().secret.size == 0) throw std::runtime_error("not a private key");
  identify(decoded.get(), loaded);
  return loaded;
}

}  // namespace

LoadedKey load_key(const KeyConfig& config, std::uint32_t max_key_bits) {
  std::string path = "its file";
  try {
    path = path_of(config);
    return load(path, config, max_key_bits);
  } catch (const std::exception& error) {
    throw std::runtime_error("[key." + config.name + "] " + path + ": " + error.what());
  }
}

}  // namespace manymod::signd
