// SPDX-License-Identifier: Apache-2.0
#include "crypto/encoding_description.hpp"

#include <openssl/decoder.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <utility>
#include <vector>

#include "crypto/libcrypto.hpp"
#include "crypto/pem.hpp"

namespace manymod::crypto {
namespace {

using namespace std::string_view_literals;

// Whether `decode`, a d2i function of libcrypto, takes all of `der`.
template <class T>
bool is_a(T* (*decode)(T**, const unsigned char**, long), void (*release)(T*), ByteSpan der) {
  const unsigned char* at = der.data();
  T* object = decode(nullptr, &at, static_cast<long>(der.size()));
  if (object == nullptr) return false;
  release(object);
  return at == der.data() + der.size();
}

// A key of any algorithm that libcrypto has; empty if it is none.
std::string describe_key(ByteSpan der, const KeyFamily& family) {
  for (const int selection : {EVP_PKEY_KEYPAIR, EVP_PKEY_PUBLIC_KEY}) {
    EVP_PKEY* key = nullptr;
    const Libcrypto<OSSL_DECODER_CTX> context(
        OSSL_DECODER_CTX_new_for_pkey(&key, "DER", nullptr, nullptr, selection, nullptr, nullptr));
    require_crypto(context != nullptr, "OSSL_DECODER_CTX_new_for_pkey");
    const unsigned char* data = der.data();
    std::size_t size = der.size();
    const int done = OSSL_DECODER_from_data(context.get(), &data, &size);
    const Libcrypto<EVP_PKEY> owned(key);
    if (done == 1 && owned && EVP_PKEY_get0_type_name(key) != nullptr) {
      return other_key(EVP_PKEY_get0_type_name(key), selection == EVP_PKEY_KEYPAIR ? "private" : "public",
                       family);
    }
  }
  return {};
}

// PKCS#8 and SubjectPublicKeyInfo of an algorithm that libcrypto does not have, or whose key is damaged.
std::string describe_unreadable_key(ByteSpan der) {
  const unsigned char* at = der.data();
  const Libcrypto<PKCS8_PRIV_KEY_INFO> info(
      d2i_PKCS8_PRIV_KEY_INFO(nullptr, &at, static_cast<long>(der.size())));
  const ASN1_OBJECT* algorithm = nullptr;
  if (info && PKCS8_pkey_get0(&algorithm, nullptr, nullptr, nullptr, info.get()) == 1) {
    return "a private key that libcrypto cannot read, of " + algorithm_name(algorithm);
  }
  at = der.data();
  const Libcrypto<X509_PUBKEY> key(d2i_X509_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  ASN1_OBJECT* of_public = nullptr;
  if (key && X509_PUBKEY_get0_param(&of_public, nullptr, nullptr, nullptr, key.get()) == 1) {
    return "a public key that libcrypto cannot read, of " + algorithm_name(of_public);
  }
  return {};
}

bool is_base64(std::string_view text) {
  constexpr std::size_t kShortestKey = 64;
  PemContent content;
  return text.size() >= kShortestKey && decode_base64(text, content.der) && content.der[0] == 0x30;
}

// One line that ends like the name of a key's file, or begins like an absolute or relative path.
bool looks_like_path(std::string_view text) {
  constexpr std::array kEndings{".pem"sv, ".key"sv, ".der"sv, ".crt"sv, ".cer"sv, ".pub"sv,  ".p8"sv,
                                ".pk8"sv, ".p12"sv, ".pfx"sv, ".txt"sv, ".rsa"sv, ".cert"sv, ".asc"sv};
  constexpr std::array kBeginnings{"/"sv, "./"sv, "../"sv, "~"sv};
  constexpr std::size_t kLongestPath = 4096;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  if (text.empty() || text.size() > kLongestPath) return false;
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; })) return false;
  return std::ranges::any_of(kEndings, [&](auto ending) { return text.ends_with(ending); }) ||
         std::ranges::any_of(kBeginnings, [&](auto beginning) { return text.starts_with(beginning); });
}

// What to do about a key of OpenSSH: its own program writes no other format of Ed25519.
std::string openssh_key(const char* kind, bool is_ed25519, const char* conversion) {
  if (!is_ed25519) return std::string(kind) + ": convert it with " + conversion;
  return std::string(kind) +
         " of Ed25519, which ssh-keygen cannot convert: the cryptography package of Python can";
}

}  // namespace

std::string algorithm_name(const ASN1_OBJECT* algorithm) {
  std::array<char, 128> name{};
  OBJ_obj2txt(name.data(), static_cast<int>(name.size()), algorithm, 0);
  return name.data();
}

std::string other_key(const std::string& algorithm, const char* kind, const KeyFamily& family) {
  const bool vowel = !algorithm.empty() && "AEFHILMNORSX"sv.find(algorithm[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + algorithm + " " + kind + " key, " + family.other;
}

std::string describe_der(ByteSpan der, const KeyFamily& family) {
  if (std::string key = describe_key(der, family); !key.empty()) return key;
  if (std::string key = describe_unreadable_key(der); !key.empty()) return key;
  if (is_a(d2i_X509_REQ, X509_REQ_free, der)) return "a certificate request (CSR), not a key or certificate";
  if (is_a(d2i_X509_CRL, X509_CRL_free, der)) return "a certificate revocation list (CRL)";
  if (is_a(d2i_PKCS12, PKCS12_free, der)) {
    return "a PKCS#12 file: extract its key with openssl pkcs12 -nodes";
  }
  if (is_a(d2i_PKCS7, PKCS7_free, der)) return "a PKCS#7 message, not a key or certificate";
  return {};
}

std::string describe_openssh(ByteSpan content) {
  // The names of a cipher and of a derivation come first, and the algorithm's before any number of the key.
  constexpr std::size_t kLongestBeginning = 128;
  const ByteSpan beginning = content.first(std::min(content.size(), kLongestBeginning));
  const bool is_ed25519 = !std::ranges::search(beginning, "ssh-ed25519"sv).empty();
  return openssh_key("an OpenSSH key", is_ed25519, "ssh-keygen -p -m PEM");
}

std::string describe_label(std::string_view label) {
  if (label.ends_with("CERTIFICATE REQUEST")) return "a certificate request (CSR), not a key or certificate";
  if (label == "X509 CRL") return "a certificate revocation list (CRL)";
  if (label.ends_with("PARAMETERS")) return std::string(label) + " alone";
  if (label.starts_with("PGP ")) return "a PGP key";
  if (label == "PKCS7" || label == "CMS") return "a PKCS#7 message, not a key or certificate";
  return {};
}

std::string describe_bytes(std::string_view text, const KeyFamily& family) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "empty input";
  text.remove_prefix(begin);
  const auto has = [text](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return "UTF-16 text: save it as UTF-8";
  if (text.starts_with("{") && has("\"kty\"")) return "a JSON Web Key (JWK): convert it to PEM";
  for (const auto prefix : {"ssh-"sv, "ecdsa-sha2-"sv, "sk-"sv}) {
    if (!text.starts_with(prefix) || !has(" AAAA")) continue;
    const std::string algorithm(text.substr(0, text.find(' ')));
    const bool wanted = std::ranges::any_of(family.ssh_prefixes,
                                            [&](std::string_view own) { return algorithm.starts_with(own); });
    if (!wanted) return "an OpenSSH public key of " + algorithm + ", " + family.other;
    const bool is_ed25519 = algorithm.starts_with("ssh-ed25519");
    return openssh_key("an OpenSSH public key", is_ed25519, "ssh-keygen -e -m PKCS8");
  }
  if (has("---- BEGIN SSH2 ")) return "a key in the format of SSH2: convert it with ssh-keygen -i";
  if (text.starts_with("PuTTY-User-Key-File")) return "a PuTTY key: export it from puttygen as PEM";
  if (has("-----BEGIN")) return "damaged PEM, its BEGIN line is incomplete";
  if (looks_like_path(text)) return "it looks like the path of a file: give the file's contents";
  if (is_base64(text)) return "base64 without the BEGIN and END lines of PEM";
  return std::string("neither PEM nor DER of ") + family.one + ", or its password is missing or wrong";
}

}  // namespace manymod::crypto
