// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include <openssl/pem.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace manymod::test {
namespace {

const std::filesystem::path kModule = MANYMOD_PROVIDER_MODULE;

std::string section(const std::string& name, const std::string& lines) {
  return "[" + name + "]\n" + lines + "\n";
}

std::filesystem::path write_configuration(bool manymod_first, const std::string& settings) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("manymod_provider_" + std::to_string(getpid()) + ".cnf");
  const std::string both =
      manymod_first ? "manymod = ours\ndefault = theirs" : "default = theirs\nmanymod = ours";
  std::ofstream(path) << "openssl_conf = start\n"
                      << section("start", "providers = all\nalg_section = algorithms")
                      << section("algorithms", "default_properties = ?provider=manymod")
                      << section("all", both) << section("theirs", "activate = 1")
                      << section("ours", "module = " + kModule.string() + "\nactivate = 1\n" + settings +
                                             "\nrsa_alone_bits = 3072");
  return path;
}

}  // namespace

Library::Library(Order order, const std::string& settings) : library_(OSSL_LIB_CTX_new()) {
  if (order == Order::default_alone) {
    default_.reset(OSSL_PROVIDER_load(get(), "default"));
    return;
  }
  const std::filesystem::path path = write_configuration(order == Order::manymod_first, settings);
  const int loaded = OSSL_LIB_CTX_load_config(get(), path.c_str());
  std::filesystem::remove(path);
  // OpenSSL 3.0 tells of no provider that refuses its configuration.
  if (loaded == 0 || OSSL_PROVIDER_available(get(), "manymod") == 0) {
    throw std::runtime_error("the configuration was refused");
  }
  manymod_.reset(OSSL_PROVIDER_load(get(), "manymod"));
}

std::size_t Library::count(const char* name) const {
  std::size_t value = 0;
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_size_t(name, &value), OSSL_PARAM_construct_end()};
  OSSL_PROVIDER_get_params(manymod_.get(), parameters);
  return value;
}

Evp<EVP_PKEY> Library::decode(const std::string& pem) const {
  const Evp<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const bool is_public = pem.find("PUBLIC KEY") != std::string::npos;
  Evp<EVP_PKEY> key(is_public
                        ? PEM_read_bio_PUBKEY_ex(bio.get(), nullptr, nullptr, nullptr, get(), nullptr)
                        : PEM_read_bio_PrivateKey_ex(bio.get(), nullptr, nullptr, nullptr, get(), nullptr));
  if (key == nullptr || manymod_ == nullptr || provider_of(key.get()) == "manymod") return key;
  OSSL_PARAM* parts = nullptr;
  const int selection = is_public ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR;
  EVP_PKEY_todata(key.get(), selection, &parts);
  const Evp<OSSL_PARAM> owner(parts);
  const Evp<EVP_PKEY_CTX> context(
      EVP_PKEY_CTX_new_from_name(get(), EVP_PKEY_get0_type_name(key.get()), nullptr));
  EVP_PKEY* ours = nullptr;
  if (EVP_PKEY_fromdata_init(context.get()) > 0) EVP_PKEY_fromdata(context.get(), &ours, selection, parts);
  return Evp<EVP_PKEY>(ours);
}

Evp<EVP_PKEY_CTX> Library::context(EVP_PKEY* key) const {
  return Evp<EVP_PKEY_CTX>(EVP_PKEY_CTX_new_from_pkey(get(), key, nullptr));
}

const Library& reference() {
  static const Library library(Order::default_alone);
  return library;
}

std::string to_pem(EVP_PKEY* key, bool private_too) {
  const Evp<BIO> bio(BIO_new(BIO_s_mem()));
  const int written = private_too
                          ? PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr)
                          : PEM_write_bio_PUBKEY(bio.get(), key);
  if (written <= 0) return {};
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

const std::string& private_pem(const std::string& kind) {
  static std::map<std::string, std::string> made;
  std::string& pem = made[kind];
  if (!pem.empty()) return pem;
  const std::size_t colon = kind.find(':');
  const std::string name = kind.substr(0, colon);
  const std::string detail = colon == std::string::npos ? "" : kind.substr(colon + 1);
  OSSL_LIB_CTX* const library = reference().get();
  Evp<EVP_PKEY> key;
  if (name == "RSA") {
    std::ifstream file(std::filesystem::path(MANYMOD_PROVIDER_TEST_KEYS) / ("rsa_" + detail + ".pem"));
    pem.assign(std::istreambuf_iterator<char>(file), {});
    return pem;
  }
  if (name == "EC") {
    key.reset(EVP_PKEY_Q_keygen(library, nullptr, "EC", detail.c_str()));
  } else {
    key.reset(EVP_PKEY_Q_keygen(library, nullptr, name.c_str()));
  }
  pem = to_pem(key.get(), true);
  return pem;
}

std::string public_pem(const std::string& private_pem) {
  return to_pem(reference().decode(private_pem).get(), false);
}

bool is_at_least(unsigned major, unsigned minor) {
  return std::pair(OPENSSL_version_major(), OPENSSL_version_minor()) >= std::pair(major, minor);
}

std::string provider_of(EVP_PKEY* key) { return OSSL_PROVIDER_get0_name(EVP_PKEY_get0_provider(key)); }

bool set_parameters(EVP_PKEY_CTX* context, const Settings& settings) {
  for (const auto& [name, text] : settings) {
    int number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    const OSSL_PARAM parameters[] = {
        is_number ? OSSL_PARAM_construct_int(name.c_str(), &number)
                  : OSSL_PARAM_construct_utf8_string(name.c_str(), const_cast<char*>(text.data()), 0),
        OSSL_PARAM_construct_end()};
    if (EVP_PKEY_CTX_set_params(context, parameters) <= 0) return false;
  }
  return true;
}

Bytes sign_digest(const Library& library, EVP_PKEY* key, const Bytes& digest, const Settings& settings) {
  const Evp<EVP_PKEY_CTX> context = library.context(key);
  std::size_t size = 0;
  if (context == nullptr || EVP_PKEY_sign_init(context.get()) <= 0 ||
      !set_parameters(context.get(), settings) ||
      EVP_PKEY_sign(context.get(), nullptr, &size, digest.data(), digest.size()) <= 0) {
    return {};
  }
  Bytes signature(size);
  if (EVP_PKEY_sign(context.get(), signature.data(), &size, digest.data(), digest.size()) <= 0) return {};
  signature.resize(size);
  return signature;
}

Bytes sign_message(const Library& library, EVP_PKEY* key, const char* hash, const Bytes& message,
                   const Settings& settings, std::size_t parts) {
  const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  if (EVP_DigestSignInit_ex(context.get(), &of_key, hash, library.get(), nullptr, key, nullptr) <= 0 ||
      !set_parameters(of_key, settings)) {
    return {};
  }
  std::size_t size = 0;
  if (parts == 0) {
    if (EVP_DigestSign(context.get(), nullptr, &size, message.data(), message.size()) <= 0) return {};
    Bytes signature(size);
    if (EVP_DigestSign(context.get(), signature.data(), &size, message.data(), message.size()) <= 0)
      return {};
    signature.resize(size);
    return signature;
  }
  const std::size_t step = message.size() / parts + 1;
  for (std::size_t at = 0; at < message.size(); at += step) {
    EVP_DigestSignUpdate(context.get(), message.data() + at, std::min(step, message.size() - at));
  }
  if (EVP_DigestSignFinal(context.get(), nullptr, &size) <= 0) return {};
  Bytes signature(size);
  if (EVP_DigestSignFinal(context.get(), signature.data(), &size) <= 0) return {};
  signature.resize(size);
  return signature;
}

int verify_digest(const Library& library, EVP_PKEY* key, const Bytes& digest, const Bytes& signature,
                  const Settings& settings) {
  const Evp<EVP_PKEY_CTX> context = library.context(key);
  if (EVP_PKEY_verify_init(context.get()) <= 0 || !set_parameters(context.get(), settings)) return -1;
  return EVP_PKEY_verify(context.get(), signature.data(), signature.size(), digest.data(), digest.size());
}

int verify_message(const Library& library, EVP_PKEY* key, const char* hash, const Bytes& message,
                   const Bytes& signature, const Settings& settings) {
  const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  if (EVP_DigestVerifyInit_ex(context.get(), &of_key, hash, library.get(), nullptr, key, nullptr) <= 0 ||
      !set_parameters(of_key, settings)) {
    return -1;
  }
  return EVP_DigestVerify(context.get(), signature.data(), signature.size(), message.data(), message.size());
}

}  // namespace manymod::test
