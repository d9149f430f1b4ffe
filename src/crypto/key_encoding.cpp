// SPDX-License-Identifier: Apache-2.0
#include "crypto/key_encoding.hpp"

#include <openssl/decoder.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crypto/pem.hpp"

namespace manymod::crypto {
namespace {

/// What was read of one encoding: a key, or why there is none.
struct Found {
  Pkey key;
  bool is_private = false;  ///< also if it is a private key that could not be read
  bool is_certificate = false;
  bool is_encrypted = false;
  std::string problem;
  Unread reason = Unread::other;
  mm_bytes part{};             ///< what was read
  bool has_own_label = false;  ///< whether the label says that it is a private key of the family
};

Found no_key(std::string problem, Unread reason = Unread::other) {
  return {nullptr, false, false, false, std::move(problem), reason};
}
Found encrypted_key(std::string problem, Unread reason = Unread::other) {
  return {nullptr, true, false, true, std::move(problem), reason};
}

bool is_wanted(const EVP_PKEY* key, const KeyFamily& family) {
  return std::ranges::any_of(family.algorithms,
                             [key](const char* name) { return EVP_PKEY_is_a(key, name) == 1; });
}

// A key of the family as it is, one of another algorithm as a problem.
Found checked(Pkey key, const KeyFamily& family, bool is_private, bool is_certificate = false) {
  if (is_wanted(key.get(), family)) return {std::move(key), is_private, is_certificate, false, {}};
  const char* name = EVP_PKEY_get0_type_name(key.get());
  const std::string kind = is_certificate ? "a certificate of " : "";
  return no_key(kind +
                other_key(name == nullptr ? "unknown" : name, is_private ? "private" : "public", family));
}

// ---- decryption ----------------------------------------------------------------------------------------

bool is_provided(const char* cipher) {
  return cipher != nullptr && Libcrypto<EVP_CIPHER>(EVP_CIPHER_fetch(nullptr, cipher, nullptr)) != nullptr;
}

Found not_provided(const std::string& encryption) {
  return encrypted_key(
      "encrypted with " + encryption +
          ", which libcrypto does not provide here: encrypt it anew with openssl pkcs8 -topk8 -v2 aes256",
      Unread::encryption);
}

constexpr const char* kPasswordNeeded = "encrypted: its password is needed";
constexpr const char* kPasswordWrong = "encrypted: its password is wrong";

// The cipher of an encrypted PKCS#8 key; empty if libcrypto provides it.
std::string missing_cipher(const X509_ALGOR* encryption) {
  const ASN1_OBJECT* scheme = nullptr;
  const void* parameters = nullptr;
  int type = V_ASN1_UNDEF;
  X509_ALGOR_get0(&scheme, &type, &parameters, encryption);
  if (OBJ_obj2nid(scheme) == NID_pbes2) {
    if (type != V_ASN1_SEQUENCE) return {};
    const Libcrypto<PBE2PARAM> pbes2(static_cast<PBE2PARAM*>(
        ASN1_item_unpack(static_cast<const ASN1_STRING*>(parameters), ASN1_ITEM_rptr(PBE2PARAM))));
    if (!pbes2) return {};
    const ASN1_OBJECT* cipher = nullptr;
    X509_ALGOR_get0(&cipher, nullptr, nullptr, pbes2->encryption);
    const std::string name = algorithm_name(cipher);
    const int nid = OBJ_obj2nid(cipher);
    return nid != NID_undef && is_provided(OBJ_nid2sn(nid)) ? std::string() : name;
  }
  int cipher = NID_undef;
  const int known = EVP_PBE_find(EVP_PBE_TYPE_OUTER, OBJ_obj2nid(scheme), &cipher, nullptr, nullptr);
  if (known == 1 && cipher > 0 && is_provided(OBJ_nid2sn(cipher))) return {};
  return algorithm_name(scheme);
}

// PKCS#8's EncryptedPrivateKeyInfo.
Found read_encrypted(const X509_SIG* encrypted, const mm_bytes& password, const KeyFamily& family) {
  const X509_ALGOR* encryption = nullptr;
  X509_SIG_get0(encrypted, &encryption, nullptr);
  if (const std::string cipher = missing_cipher(encryption); !cipher.empty()) {
    return not_provided(cipher);
  }
  if (password.data == nullptr) return encrypted_key(kPasswordNeeded);
  if (password.size > INT_MAX) return encrypted_key(kPasswordWrong);
  const Libcrypto<PKCS8_PRIV_KEY_INFO> info(PKCS8_decrypt(
      encrypted, reinterpret_cast<const char*>(password.data), static_cast<int>(password.size)));
  if (!info) return encrypted_key(kPasswordWrong);
  Pkey key(EVP_PKCS82PKEY(info.get()));
  if (key) return checked(std::move(key), family, true);
  const ASN1_OBJECT* algorithm = nullptr;
  PKCS8_pkey_get0(&algorithm, nullptr, nullptr, nullptr, info.get());
  return no_key("a private key that libcrypto cannot read, of " + algorithm_name(algorithm));
}

// A pem_password_cb, whose last argument is the password (mm_bytes).
int give_password(char* buffer, int room, int, void* user) {
  const auto& password = *static_cast<const mm_bytes*>(user);
  if (password.size > static_cast<std::size_t>(room)) return -1;
  if (password.size != 0) std::memcpy(buffer, password.data, password.size);
  return static_cast<int>(password.size);
}

// Decrypt a block with the headers Proc-Type and DEK-Info in place. @return what is wrong; no problem if
// nothing is
Found decrypt_block(PemContent& content, const mm_bytes& password) {
  EVP_CIPHER_INFO cipher{};
  if (PEM_get_EVP_CIPHER_INFO(content.headers.data(), &cipher) != 1) {
    const std::size_t info = content.headers.find("DEK-Info: ");
    const std::string name = info == std::string::npos ? "" : content.headers.substr(info + 10);
    return not_provided(name.empty() ? "an unnamed cipher" : name.substr(0, name.find_first_of(",\n")));
  }
  const char* name = EVP_CIPHER_get0_name(cipher.cipher);
  if (!is_provided(name)) return not_provided(name == nullptr ? "a cipher" : name);
  if (password.data == nullptr) return encrypted_key(kPasswordNeeded);
  mm_bytes given = password;
  long size = static_cast<long>(content.der.size());
  if (PEM_do_header(&cipher, content.der.data(), &size, give_password, &given) != 1) {
    return encrypted_key(kPasswordWrong);
  }
  wipe_bytes(content.der.data() + size, content.der.size() - static_cast<std::size_t>(size));
  content.der.resize(static_cast<std::size_t>(size));
  return {};
}

// ---- DER -----------------------------------------------------------------------------------------------

// A key of `algorithm` in any structure that libcrypto's decoders know; null if there is none.
Pkey decoded(ByteSpan der, const char* algorithm, int selection) {
  EVP_PKEY* key = nullptr;
  const Libcrypto<OSSL_DECODER_CTX> context(
      OSSL_DECODER_CTX_new_for_pkey(&key, nullptr, nullptr, algorithm, selection, nullptr, nullptr));
  require_crypto(context != nullptr, "OSSL_DECODER_CTX_new_for_pkey");
  const unsigned char* data = der.data();
  std::size_t size = der.size();
  const int done = OSSL_DECODER_from_data(context.get(), &data, &size);
  Pkey owned(key);
  return done == 1 ? std::move(owned) : nullptr;
}

Found read_certificate(const X509* certificate, const KeyFamily& family) {
  if (EVP_PKEY* key = X509_get0_pubkey(certificate); key != nullptr && EVP_PKEY_up_ref(key) == 1) {
    return checked(Pkey(key), family, false, true);
  }
  ASN1_OBJECT* algorithm = nullptr;
  X509_PUBKEY_get0_param(&algorithm, nullptr, nullptr, nullptr, X509_get_X509_PUBKEY(certificate));
  return no_key("a certificate of a key that libcrypto cannot read: " + algorithm_name(algorithm));
}

// A key or certificate; without a key and a problem if it is neither.
Found read_der(ByteSpan der, const mm_bytes& password, const KeyFamily& family) {
  const auto size = static_cast<long>(der.size());
  const unsigned char* at = der.data();
  if (const Libcrypto<X509_SIG> encrypted(d2i_X509_SIG(nullptr, &at, size)); encrypted) {
    return read_encrypted(encrypted.get(), password, family);
  }
  for (const int selection : {EVP_PKEY_KEYPAIR, EVP_PKEY_PUBLIC_KEY}) {
    for (const char* algorithm : family.algorithms) {
      if (Pkey key = decoded(der, algorithm, selection)) {
        return checked(std::move(key), family, selection == EVP_PKEY_KEYPAIR);
      }
    }
  }
  at = der.data();
  // A trusted certificate is a certificate with more behind it.
  if (const Libcrypto<X509> certificate(d2i_X509(nullptr, &at, size)); certificate) {
    return read_certificate(certificate.get(), family);
  }
  return no_key(describe_der(der, family));
}

Found read_block(const PemBlock& block, const mm_bytes& password, const KeyFamily& family) {
  if (!block.complete) return no_key("truncated PEM, it has no END line for " + block.label);
  PemContent content;
  if (std::string known = describe_label(block.label); !known.empty()) {
    return no_key(std::move(known));
  }
  const bool is_base64 = read_pem(block, content);
  if (block.label == kOpensshLabel) return no_key(describe_openssh(content.der), Unread::openssh);
  if (!is_base64) return no_key("PEM whose base64 is damaged: " + block.label);
  if (content.encrypted()) {
    if (Found failure = decrypt_block(content, password); !failure.problem.empty()) return failure;
  }
  Found found = read_der(content.der, password, family);
  if (found.key || !found.problem.empty()) return found;
  if (content.encrypted()) return encrypted_key(kPasswordWrong);
  return no_key("PEM that holds no key or certificate that libcrypto can read: " + block.label);
}

// Whether bytes follow the one value of DER that a key or certificate is. Other formats than DER have none.
bool has_more_behind(ByteSpan encoded) {
  const unsigned char* at = encoded.data();
  long size = 0;
  int tag = 0;
  int kind = 0;
  const int flags = ASN1_get_object(&at, &size, &tag, &kind, static_cast<long>(encoded.size()));
  return flags == V_ASN1_CONSTRUCTED && tag == V_ASN1_SEQUENCE &&
         at + size != encoded.data() + encoded.size();
}

// ---- which key of an encoding --------------------------------------------------------------------------

bool prefers_public(WantedKey wanted) {
  return wanted == WantedKey::public_ || wanted == WantedKey::public_first;
}

// What is read of the blocks, up to the key that is wanted.
std::vector<Found> read_all(const mm_bytes& encoded, const mm_bytes& password, WantedKey wanted,
                            const KeyFamily& family) {
  const std::string_view text(reinterpret_cast<const char*>(encoded.data), encoded.size);
  std::vector<Found> all;
  const std::vector<PemBlock> blocks = pem_blocks(text);
  for (const PemBlock& block : blocks) {
    // Keys on curves have a block of parameters before them.
    const bool parameters = blocks.size() > 1 && block.label.ends_with("PARAMETERS");
    if (parameters) continue;
    Found& found = all.emplace_back(read_block(block, password, family));
    found.part = {reinterpret_cast<const std::uint8_t*>(block.whole.data()), block.whole.size()};
    // The label tells only of what cannot be read.
    if (!found.key) found.is_private = found.is_private || block.label.ends_with("PRIVATE KEY");
    found.has_own_label = block.label == family.label;
    if (found.key && found.is_private != prefers_public(wanted)) break;
  }
  if (!all.empty()) return all;
  all.push_back(read_der({encoded.data, encoded.size}, password, family));
  if (all[0].key && has_more_behind({encoded.data, encoded.size})) {
    all[0] = no_key("DER with bytes behind its end");
  }
  if (!all[0].key && all[0].problem.empty()) all[0].problem = describe_bytes(text, family);
  all[0].part = encoded;
  return all;
}

std::string message_of(std::string problem, const KeyFamily& family) {
  std::ranges::replace_if(problem, [](char c) { return c < ' ' || c > '~'; }, '?');
  return std::string(family.title) + ": " + problem;
}

[[noreturn]] void reject_unread(const Found& found, const KeyFamily& family) {
  throw UnreadKeyError(message_of(found.problem, family), found.reason, found.part);
}

// The key that is wanted; `all` is not empty.
Found& chosen(std::vector<Found>& all, WantedKey wanted, const KeyFamily& family) {
  const auto find = [&](auto&& suits) {
    const auto found = std::ranges::find_if(all, suits);
    return found == all.end() ? nullptr : &*found;
  };
  Found* private_key = find([](const Found& found) { return found.key && found.is_private; });
  Found* public_key = find([](const Found& found) { return found.key && !found.is_private; });
  const Found* unread = find([](const Found& found) { return !found.key; });
  const Found* unread_private = find([](const Found& found) { return !found.key && found.has_own_label; });
  if (unread_private == nullptr) {
    unread_private = find([](const Found& found) { return !found.key && found.is_private; });
  }
  if (prefers_public(wanted) && public_key != nullptr) return *public_key;
  if (wanted == WantedKey::public_) {
    if (private_key == nullptr && !unread->is_encrypted) reject_unread(*unread, family);
    reject_unread(no_key("a private key, where a public one is needed"), family);
  }
  if (private_key != nullptr) return *private_key;
  // The private key that could not be read goes before the certificate beside it.
  if (unread_private != nullptr) reject_unread(*unread_private, family);
  if (public_key == nullptr) reject_unread(*unread, family);
  if (wanted == WantedKey::any) return *public_key;
  const std::string kind = public_key->is_certificate ? "a certificate" : "a public key";
  reject_unread(no_key(kind + ", where a private key is needed"), family);
}

}  // namespace

void reject_key(std::string problem, const KeyFamily& family) {
  throw StatusError(MM_ERR_KEY, message_of(std::move(problem), family));
}

DecodedKey decode_key(const mm_bytes& encoded, const mm_bytes& password, WantedKey wanted,
                      const KeyFamily& family) {
  if (encoded.data == nullptr) throw StatusError(MM_ERR_NULL, "encoded is NULL");
  // libcrypto converts the size to int.
  if (encoded.size > INT_MAX) reject_unread(no_key("longer than 2^31 - 1 bytes"), family);
  const QuietErrors quiet;
  std::vector<Found> all = read_all(encoded, password, wanted, family);
  Found& found = chosen(all, wanted, family);
  return {std::move(found.key), found.is_private};
}

Number number_of(const EVP_PKEY* key, const std::string& name) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, name.c_str(), &number) != 1) return nullptr;
  BN_set_flags(number, BN_FLG_CONSTTIME);
  return Number(number);
}

}  // namespace manymod::crypto
