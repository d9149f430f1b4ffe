// SPDX-License-Identifier: Apache-2.0
#include "daemon/support.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <map>
#include <stdexcept>

namespace manymod::signd::test {

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "manymod-signd-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}

EVP_PKEY* test_key(const std::string& name) {
  static std::map<std::string, Crypto<EVP_PKEY>> keys;
  Crypto<EVP_PKEY>& key = keys[name];
  if (key) return key.get();
  if (name.starts_with("rsa")) key.reset(EVP_RSA_gen(1024));
  if (name == "p256") key.reset(EVP_EC_gen("P-256"));
  if (name == "ed25519") key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (name == "x25519") key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"));
  return key.get();
}

std::string private_pem(EVP_PKEY* key, const char* password) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), &BIO_free);
  const EVP_CIPHER* const cipher = password == nullptr ? nullptr : EVP_aes_128_cbc();
  PEM_write_bio_PKCS8PrivateKey(memory.get(), key, cipher, password,
                                password == nullptr ? 0 : static_cast<int>(strlen(password)), nullptr,
                                nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

Bytes public_info(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  Bytes bytes(der, der + size);
  OPENSSL_free(der);
  return bytes;
}

KeyId id_of(EVP_PKEY* key) {
  KeyId id{};
  const Bytes info = public_info(key);
  EVP_Digest(info.data(), info.size(), id.data(), nullptr, EVP_sha256(), nullptr);
  return id;
}

std::string key_section(const std::string& name, const std::string& more) {
  const std::string users =
      more.find("users") == std::string::npos ? "users = " + std::to_string(getuid()) + "\n" : "";
  return "[key." + name + "]\nfile = " + name + ".pem\n" + users + more + "\n";
}

void configure(const Folder& folder, const std::vector<std::string>& keys,
               const std::string& daemon_settings) {
  std::string text = "[daemon]\nsocket = " + folder.at("socket") +
                     "\ndevice = cpu\nthreads = 1\nconcurrent = 1\nlock_memory = no\n" + daemon_settings +
                     "\n";
  for (const std::string& name : keys) {
    folder.write(name + ".pem", private_pem(test_key(name)));
    text += key_section(name);
  }
  folder.write("signd.conf", text);
}

Request request_for(const std::string& key, const Scheme& scheme, const Bytes& input) {
  Request request;
  request.key = id_of(test_key(key));
  request.scheme = scheme;
  request.input = input;
  return request;
}

bool verifies(const std::string& key, int rsa_padding, const Bytes& signature) {
  const Crypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new(test_key(key), nullptr));
  if (EVP_PKEY_verify_init(context.get()) != 1 ||
      EVP_PKEY_CTX_set_signature_md(context.get(), EVP_sha256()) != 1) {
    return false;
  }
  if (rsa_padding != 0 && EVP_PKEY_CTX_set_rsa_padding(context.get(), rsa_padding) != 1) return false;
  return EVP_PKEY_verify(context.get(), signature.data(), signature.size(), kDigest.data(), kDigest.size()) ==
         1;
}

}  // namespace manymod::signd::test
