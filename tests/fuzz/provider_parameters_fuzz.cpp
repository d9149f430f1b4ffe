// SPDX-License-Identifier: Apache-2.0
// Parameters of keys and of contexts, as applications and files give them to the OpenSSL provider. The
// default provider says what is right: it and this one accept the same, and what this one then computes is
// what the default provider computes, or finds valid.
#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/choices.hpp"

extern "C" OSSL_provider_init_fn OSSL_provider_init;

// OpenSSL 3.0 leaks numbers of RSA keys whose parts are refused, with or without this provider.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions();  // NOLINT
const char* __lsan_default_suppressions() { return "leak:libcrypto.so"; }             // NOLINT

namespace manymod::fuzz {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(OSSL_DECODER_CTX* context) const { OSSL_DECODER_CTX_free(context); }
  void operator()(OSSL_PARAM* parameters) const { OSSL_PARAM_free(parameters); }
};
template <class T>
using Own = std::unique_ptr<T, Free>;

constexpr std::size_t kKeys = 4;
constexpr std::array<const char*, kKeys> kTypes = {"RSA", "EC", "EC", "ED25519"};
constexpr std::array<const char*, kKeys> kPems = {
    "-----BEGIN PRIVATE KEY-----\n"
    "MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAPpzVQb3qBR59Mn7\n"
    "qrdjbJ3WklnKkOeqnT0NGZd2Y7vveEQea/EDcMv5xbtiC1D0oKg6WqVvmFHIcKyX\n"
    "elKOkiiSzTU7IQZnouiVDmD71WdaZcULgcNzRL1/PVNPF1Lj4OonnTPbe4T7JVUD\n"
    "iAGiCsliIAmTWRvvISQEmjLG6vVhAgMBAAECgYEAklFvC3MEr3HQoXB2fE2J12zU\n"
    "c8D0h2QWGOTeXq679cAh8yoSxevMql5yNtdA5TsF4UK2UpCv3JfNvAeDX1gL6qB7\n"
    "2WtSxEGdlH8oKOFzUnyjut0OHHW8UjqQrO9PibDg9IdoDMLnLY0inVxOrXnXsMfT\n"
    "iXO2vQwTYkXa/NHXt0ECQQD9k6lb7S4CJsR8b1I3JUC4GfnjbF8/Cg9k88GYBInr\n"
    "qwBlKmz93TAjs10UkrTGXfuk58AtptgObHj6pwjlAGDrAkEA/NgFx5Xyk6/8G6Oa\n"
    "odajDOmJd2bYdtF3f1zh155VAHvXTaaG0beurMJ0CTHI5XuFvucU0n4N8RISUYlz\n"
    "ZeXP4wJAep+JapbLhObSZYo/q8MsBNsq6Dtj48wtnZfyqlynhXtv+XwGsMzhlqIK\n"
    "BQTcvoB8TEZ1vJ3OJUt3RV65AmSoeQJAJV1zNTSGnaazNg5uap5CiET26KtNL/ny\n"
    "k+LRCUE/xIuInNQQNmvTp3oxFa7Cxo8Di9uwaw7v1oFaLayHXjahCwJAOXYsyRIK\n"
    "gQ6IaeZiPscTQZdo3s5rifyPCWVDYYPfgghGIKRcS4vlytyOrwIHoNWJcqajIpdo\n"
    "Lsvu049BKdvmdQ==\n"
    "-----END PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjeCQIooEnNLQ06Ts\n"
    "+HlXX+Rs9cYf3UOkc1wXv2Fgh/ShRANCAAQ7LyvTjSLU6Xh17TglKLH9EV9S8GjC\n"
    "0gcQ427GeVJi9+Du7x5JNRl7itOyKHJUGiGg6RtP9lun/9NIgG8veuE+\n"
    "-----END PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\n"
    "MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBIkg4wmlimhB6TYw0H\n"
    "qJ8OPKN36hBTKI3aMvl0iyfXpwj8rrn6C6pqXnw4W54IA52hZANiAAQIj2/CWofs\n"
    "sb1SI4vjOEjmKGyW6/Otp4Ev0ye+UV9aHYqnF9FEliDDDkqzzjj3yLxAfcTa1YJQ\n"
    "oWg0i5TAfUNY6gYbpi733FCwm+w9mGLxsm4+OQ2eRIs1L2v+Wq4JS/k=\n"
    "-----END PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIKZzWSRdSfRZrJZcteh/1grAoJuuT7Ez1HaUcEiGXXUi\n"
    "-----END PRIVATE KEY-----\n"};
constexpr std::size_t kRsa = 0, kP256 = 1;

constexpr std::string_view kReference = "manymod key reference";
constexpr std::array<const char*, 45> kNames = {"digest",
                                                "pad-mode",
                                                "saltlen",
                                                "mgf1-digest",
                                                "mgf",
                                                "properties",
                                                "algorithm-id",
                                                "oaep-label",
                                                "tls-client-version",
                                                "tls-negotiated-version",
                                                "implicit-rejection",
                                                "nonce-type",
                                                "kat",
                                                "group",
                                                "encoding",
                                                "point-format",
                                                "field-type",
                                                "p",
                                                "a",
                                                "b",
                                                "generator",
                                                "order",
                                                "cofactor",
                                                "seed",
                                                "use-cofactor-flag",
                                                "include-public",
                                                "pub",
                                                "priv",
                                                "encoded-pub-key",
                                                "n",
                                                "e",
                                                "d",
                                                "rsa-factor1",
                                                "rsa-factor2",
                                                "rsa-exponent1",
                                                "rsa-coefficient1",
                                                "ecdh-cofactor-mode",
                                                "kdf-type",
                                                "kdf-digest",
                                                "kdf-outlen",
                                                "kdf-ukm",
                                                "pad",
                                                "instance",
                                                "context-string",
                                                "none"};
constexpr std::array<const char*, 30> kTexts = {
    "SHA256",   "SHA2-384",  "SHA512",     "SHA3-256",   "SHA1",        "MD5",    "MD5-SHA1", "SHA512-256",
    "SHAKE128", "none",      "pss",        "pkcs1",      "oaep",        "x931",   "1",        "6",
    "4",        "3",         "digest",     "max",        "auto",        "-1",     "20",       "P-256",
    "P-384",    "secp521r1", "prime256v1", "compressed", "named_curve", "X963KDF"};

/// Parameters that keep what they point to.
class Parameters {
 public:
  /// Some that may have been meant for a context.
  explicit Parameters(Choices& choices) {
    const std::size_t count = choices.below(5);
    for (std::size_t i = 0; i < count; ++i) add(choices);
    end();
  }
  /// Those of a key, some of which are left out, changed, or there twice.
  Parameters(Choices& choices, const OSSL_PARAM* key) {
    const std::size_t changed = choices.below(32), way = choices.below(4);
    std::size_t i = 0;
    for (const OSSL_PARAM* part = key; part->key != nullptr; ++part, ++i) {
      if (i != changed) {
        list_.push_back(*part);
      } else if (way == 1) {
        list_.push_back(value_for(part->key, choices));
      } else if (way == 2) {
        list_.insert(list_.end(), 2, *part);
      } else if (way == 3) {
        list_.push_back(bent(*part, choices));
      }
    }
    if (choices.one_in(4)) add(choices);
    end();
  }
  [[nodiscard]] const OSSL_PARAM* get() const { return list_.data(); }
  [[nodiscard]] OSSL_PARAM* get() { return list_.data(); }

 private:
  void add(Choices& choices) { list_.push_back(value_for(choices.among<const char*>(kNames), choices)); }
  void end() { list_.push_back(OSSL_PARAM_construct_end()); }

  // libcrypto's own readers of strings look for a zero: one follows all bytes.
  std::uint8_t* keep(Bytes bytes, std::size_t& size) {
    size = bytes.size();
    bytes.resize(size + 16);
    return kept_.emplace_back(std::move(bytes)).data();
  }
  OSSL_PARAM value_for(const char* name, Choices& choices) {
    static constexpr std::array<unsigned, 4> kKinds = {OSSL_PARAM_UTF8_STRING, OSSL_PARAM_INTEGER,
                                                       OSSL_PARAM_UNSIGNED_INTEGER, OSSL_PARAM_OCTET_STRING};
    const unsigned kind = choices.among<unsigned>(kKinds);
    Bytes value;
    if (kind == OSSL_PARAM_UTF8_STRING && !choices.one_in(4)) {
      const std::string_view text = choices.among<const char*>(kTexts);
      value.assign(text.begin(), text.end());
    } else {
      value = choices.bytes(48);
    }
    std::size_t size = 0;
    std::uint8_t* const data = keep(std::move(value), size);
    return {name, kind, data, size, OSSL_PARAM_UNMODIFIED};
  }
  OSSL_PARAM bent(const OSSL_PARAM& part, Choices& choices) {
    const auto* const bytes = static_cast<const std::uint8_t*>(part.data);
    Bytes value(bytes, bytes + part.data_size);
    if (!value.empty())
      value[choices.below(value.size())] ^= static_cast<std::uint8_t>(1 + choices.below(255));
    if (choices.one_in(4)) value.resize(choices.below(value.size() + 1));
    OSSL_PARAM made = part;
    made.data = keep(std::move(value), made.data_size);
    return made;
  }

  std::deque<Bytes> kept_;
  std::vector<OSSL_PARAM> list_;
};

/// A library context with one of the providers, and the test keys in it.
class Side {
 public:
  explicit Side(bool has_manymod) : library_(OSSL_LIB_CTX_new()) {
    if (has_manymod) {
      load_manymod();
    } else {
      OSSL_PROVIDER_load(library_, "default");
    }
    for (std::size_t i = 0; i < kKeys; ++i) keys_[i] = key_of(i);
  }
  [[nodiscard]] OSSL_LIB_CTX* library() const { return library_; }
  [[nodiscard]] EVP_PKEY* key(std::size_t i) const { return keys_[i].get(); }
  [[nodiscard]] Own<EVP_PKEY_CTX> context(EVP_PKEY* key) const {
    return Own<EVP_PKEY_CTX>(EVP_PKEY_CTX_new_from_pkey(library_, key, nullptr));
  }
  [[nodiscard]] Own<EVP_PKEY> import(const char* type, int selection, const OSSL_PARAM* parts) const {
    const Own<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(library_, type, nullptr));
    EVP_PKEY* made = nullptr;
    if (context == nullptr || EVP_PKEY_fromdata_init(context.get()) <= 0 ||
        EVP_PKEY_fromdata(context.get(), &made, selection, const_cast<OSSL_PARAM*>(parts)) <= 0) {
      return nullptr;
    }
    return Own<EVP_PKEY>(made);
  }

 private:
  void load_manymod() {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("manymod-fuzz-" + std::to_string(getpid()) + ".cnf");
    std::ofstream(path) << "openssl_conf = start\n[start]\nproviders = all\nalg_section = algorithms\n"
                           "[algorithms]\ndefault_properties = ?provider=manymod\n"
                           "[all]\ndefault = theirs\nmanymod = ours\n[theirs]\nactivate = 1\n"
                           "[ours]\nactivate = 1\nrsa_alone_bits = 1024\nconcurrent = 1\npatience_ms = 1\n";
    require(OSSL_PROVIDER_add_builtin(library_, "manymod", &OSSL_provider_init) == 1 &&
                OSSL_LIB_CTX_load_config(library_, path.c_str()) == 1 &&
                OSSL_PROVIDER_available(library_, "manymod") == 1,
            "the provider is not loaded");
    std::filesystem::remove(path);
  }
  // Decoders leave keys with their own provider.
  [[nodiscard]] Own<EVP_PKEY> key_of(std::size_t i) const {
    const Own<BIO> pem(BIO_new_mem_buf(kPems[i], -1));
    const Own<EVP_PKEY> read(
        PEM_read_bio_PrivateKey_ex(pem.get(), nullptr, nullptr, nullptr, library_, nullptr));
    OSSL_PARAM* parts = nullptr;
    require(read != nullptr && EVP_PKEY_todata(read.get(), EVP_PKEY_KEYPAIR, &parts) == 1, "no test key");
    const Own<OSSL_PARAM> owner(parts);
    return import(kTypes[i], EVP_PKEY_KEYPAIR, parts);
  }

  OSSL_LIB_CTX* library_;  // for ever, as its keys' provider is
  std::array<Own<EVP_PKEY>, kKeys> keys_;
};

const Side& ours() {
  static const Side& side = *new Side(true);
  return side;
}
const Side& theirs() {
  static const Side& side = *new Side(false);
  return side;
}

void require_same(int own, int other, const char* what) {
  require((own > 0) == (other > 0),
          std::string(what) + ": " + std::to_string(own) + ", the default provider " + std::to_string(other));
}

std::string text_of(EVP_PKEY_CTX* context, const char* name) {
  std::array<char, 64> text{};
  const std::array<OSSL_PARAM, 2> asked = {OSSL_PARAM_construct_utf8_string(name, text.data(), text.size()),
                                           OSSL_PARAM_construct_end()};
  return EVP_PKEY_CTX_get_params(context, const_cast<OSSL_PARAM*>(asked.data())) > 0 ? text.data() : "";
}

/// A context on either side, with the same parameters.
struct Pair {
  using Begin = int (*)(EVP_PKEY_CTX*, const OSSL_PARAM*);

  Pair(std::size_t key, Begin begin, Choices& choices) {
    const Parameters first(choices), second(choices);
    own = ours().context(ours().key(key));
    other = theirs().context(theirs().key(key));
    const int begun = begin(own.get(), first.get());
    require_same(begun, begin(other.get(), first.get()), "beginning");
    if (begun <= 0) return;
    good = EVP_PKEY_CTX_set_params(own.get(), second.get()) > 0;
    require_same(good ? 1 : 0, EVP_PKEY_CTX_set_params(other.get(), second.get()), "setting");
    for (const char* name : {"digest", "pad-mode", "saltlen", "mgf1-digest", "kdf-type"}) {
      require(text_of(own.get(), name) == text_of(other.get(), name), std::string("another ") + name);
    }
  }
  Own<EVP_PKEY_CTX> own, other;
  bool good = false;  ///< all parameters were accepted
};

void check_import(Choices& choices) {
  const std::size_t i = choices.below(kKeys);
  OSSL_PARAM* parts = nullptr;
  require(EVP_PKEY_todata(theirs().key(i), EVP_PKEY_KEYPAIR, &parts) == 1, "no parts of a key");
  const Own<OSSL_PARAM> owner(parts);
  const Parameters changed(choices, parts);
  static constexpr std::array<int, 3> kSelections = {EVP_PKEY_KEYPAIR, EVP_PKEY_PUBLIC_KEY,
                                                     EVP_PKEY_KEY_PARAMETERS};
  const int selection = choices.among<int>(kSelections);
  const auto own = ours().import(kTypes[i], selection, changed.get());
  const auto other = theirs().import(kTypes[i], selection, changed.get());
  require_same(own != nullptr ? 1 : 0, other != nullptr ? 1 : 0, "importing");
  if (own == nullptr) return;
  require(EVP_PKEY_get_bits(own.get()) == EVP_PKEY_get_bits(other.get()), "a key of another size");
  require(EVP_PKEY_eq(own.get(), own.get()) == EVP_PKEY_eq(other.get(), other.get()), "a key unlike itself");
  const Parameters set(choices);
  require_same(EVP_PKEY_set_params(own.get(), const_cast<OSSL_PARAM*>(set.get())),
               EVP_PKEY_set_params(other.get(), const_cast<OSSL_PARAM*>(set.get())), "setting a key's");
}

void check_signature(Choices& choices) {
  const std::size_t key = choices.below(3);  // Ed25519 signs messages alone
  const bool computes = choices.one_in(8);
  const Bytes data = choices.bytes(64);
  const Pair pair(key, EVP_PKEY_sign_init_ex, choices);
  if (!pair.good || !computes || data.empty()) return;
  Bytes own(256), other(256);
  std::size_t own_size = own.size(), other_size = other.size();
  const int made = EVP_PKEY_sign(pair.own.get(), own.data(), &own_size, data.data(), data.size());
  require_same(made, EVP_PKEY_sign(pair.other.get(), other.data(), &other_size, data.data(), data.size()),
               "signing");
  if (made <= 0) return;
  // With the same parameters, by the default provider. What a verifier does not take, as "auto" is for
  // signatures without a digest, says nothing.
  const auto verification = theirs().context(theirs().key(key));
  require(EVP_PKEY_verify_init(verification.get()) > 0, "verifying");
  for (const char* name : {"digest", "pad-mode", "mgf1-digest"}) {
    std::string text = text_of(pair.other.get(), name);
    const std::array<OSSL_PARAM, 2> same = {OSSL_PARAM_construct_utf8_string(name, text.data(), 0),
                                            OSSL_PARAM_construct_end()};
    if (!text.empty() && EVP_PKEY_CTX_set_params(verification.get(), same.data()) <= 0) return;
  }
  require(EVP_PKEY_verify(verification.get(), own.data(), own_size, data.data(), data.size()) ==
              EVP_PKEY_verify(verification.get(), other.data(), other_size, data.data(), data.size()),
          "an invalid signature");
}

void check_decryption(Choices& choices) {
  const Bytes data = choices.bytes(64);
  const Pair pair(kRsa, EVP_PKEY_decrypt_init_ex, choices);
  // Only OAEP: PKCS#1 v1.5 rejects implicitly, which OpenSSL 3.0 does not.
  if (!pair.good || text_of(pair.other.get(), "pad-mode") != "oaep" || !choices.one_in(4)) return;
  Bytes ciphertext(128, 0);
  std::copy(data.begin(), data.end(), ciphertext.end() - static_cast<std::ptrdiff_t>(data.size()));
  Bytes own(128), other(128);
  std::size_t own_size = own.size(), other_size = other.size();
  require_same(
      EVP_PKEY_decrypt(pair.own.get(), own.data(), &own_size, ciphertext.data(), ciphertext.size()),
      EVP_PKEY_decrypt(pair.other.get(), other.data(), &other_size, ciphertext.data(), ciphertext.size()),
      "decrypting");
}

void check_exchange(Choices& choices) {
  const std::size_t key = kP256 + choices.below(2), peer = kP256 + choices.below(2);
  const Pair pair(key, EVP_PKEY_derive_init_ex, choices);
  if (!pair.good) return;
  const int set = EVP_PKEY_derive_set_peer(pair.own.get(), ours().key(peer));
  require_same(set, EVP_PKEY_derive_set_peer(pair.other.get(), theirs().key(peer)), "setting the peer");
  if (set <= 0 || !choices.one_in(4)) return;
  Bytes own(64), other(64);
  std::size_t own_size = own.size(), other_size = other.size();
  const int derived = EVP_PKEY_derive(pair.own.get(), own.data(), &own_size);
  require_same(derived, EVP_PKEY_derive(pair.other.get(), other.data(), &other_size), "deriving");
  if (derived <= 0) return;
  own.resize(own_size);
  other.resize(other_size);
  require(own == other, "another secret");
}

void check_generation(Choices& choices) {
  const Parameters parameters(choices);
  const auto generate = [&](const Side& side) {
    const Own<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(side.library(), "EC", nullptr));
    EVP_PKEY* made = nullptr;
    require(EVP_PKEY_keygen_init(context.get()) > 0, "beginning a key");
    const bool good = EVP_PKEY_CTX_set_params(context.get(), parameters.get()) > 0 &&
                      EVP_PKEY_generate(context.get(), &made) > 0;
    return good ? Own<EVP_PKEY>(made) : nullptr;
  };
  const auto own = generate(ours()), other = generate(theirs());
  require_same(own != nullptr ? 1 : 0, other != nullptr ? 1 : 0, "generating");
  if (own != nullptr)
    require(EVP_PKEY_get_bits(own.get()) == EVP_PKEY_get_bits(other.get()), "another curve");
}

Bytes element(std::uint8_t tag, const Bytes& contents) {
  Bytes made = {tag};
  if (contents.size() >= 0x80)
    made.push_back(0x82), made.push_back(static_cast<std::uint8_t>(contents.size() >> 8));
  made.push_back(static_cast<std::uint8_t>(contents.size()));
  made.insert(made.end(), contents.begin(), contents.end());
  return made;
}

Bytes reference_to(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  Bytes content = element(0x0C, Bytes(kReference.begin(), kReference.end()));
  content.insert(content.end(), der, der + size);
  OPENSSL_free(der);
  return element(0x30, content);
}

// What is decoded to a key is one of these public keys, and has no private numbers.
void check_reference(Choices& choices) {
  const std::size_t i = choices.below(kKeys);
  Bytes der = reference_to(theirs().key(i));
  const std::size_t changes = choices.below(4);
  for (std::size_t j = 0; j < changes; ++j) der[choices.below(der.size())] ^= choices.byte();
  if (choices.one_in(8)) der.resize(choices.below(der.size()));
  if (choices.one_in(8)) der = choices.all_the_rest();
  const Own<BIO> bio(BIO_new(BIO_s_mem()));
  PEM_write_bio(bio.get(), "MANYMOD KEY REFERENCE", "", der.data(), static_cast<long>(der.size()));
  const Own<EVP_PKEY> read(
      PEM_read_bio_PrivateKey_ex(bio.get(), nullptr, nullptr, nullptr, ours().library(), nullptr));
  if (changes == 0 && der.size() == reference_to(theirs().key(i)).size()) {
    require(read != nullptr || der != reference_to(theirs().key(i)), "a reference that is none");
  }
  if (read == nullptr) return;
  OSSL_PARAM* parts = nullptr;
  require(EVP_PKEY_todata(read.get(), EVP_PKEY_KEYPAIR, &parts) != 1, "private numbers of a reference");
  OSSL_PARAM_free(parts);
  require(EVP_PKEY_todata(read.get(), EVP_PKEY_PUBLIC_KEY, &parts) == 1, "no public key of a reference");
  OSSL_PARAM_free(parts);
}

void run(Choices& choices) {
  static constexpr std::array<void (*)(Choices&), 6> kChecks = {
      check_import, check_signature, check_decryption, check_exchange, check_generation, check_reference};
  choices.among<void (*)(Choices&)>(kChecks)(choices);
  ERR_clear_error();
}

}  // namespace
}  // namespace manymod::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  manymod::fuzz::Choices choices(data, size);
  manymod::fuzz::run(choices);
  return 0;
}
