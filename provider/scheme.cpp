// SPDX-License-Identifier: Apache-2.0
#include "scheme.hpp"

#include <openssl/core_names.h>
#include <openssl/obj_mac.h>
#include <openssl/rsa.h>

#include <algorithm>

#include "parameters.hpp"

namespace manymod::provider {
namespace {

/// RSA_PSS_SALTLEN_AUTO_DIGEST_MAX of OpenSSL 3.1 and newer: as long as the digest, or as the key allows.
constexpr int kSaltAutoDigestMax = -4;

/// Bytes of an MD5 and a SHA-1.
constexpr std::size_t kTwoHashes = 36;

/// The length of a salt as manymod has it.
int salt_length(const Key& key, int asked, mm_hash hash) {
  const int digest = static_cast<int>(mm_hash_size(hash));
  switch (asked) {
    case RSA_PSS_SALTLEN_DIGEST:
      return signd::kSaltDigest;
    case RSA_PSS_SALTLEN_AUTO:  // of signatures that are made
    case RSA_PSS_SALTLEN_MAX:
      return signd::kSaltMax;
    case kSaltAutoDigestMax: {
      const int encoded = (EVP_PKEY_get_bits(key.delegate()) - 1 + 7) / 8;  // emLen of RFC 8017, 9.1
      return encoded - digest - 2 < digest ? signd::kSaltMax : signd::kSaltDigest;
    }
    default:
      return asked == digest ? signd::kSaltDigest : asked;
  }
}

/// The hash of MGF1, by which the context has it: MM_HASH_NONE stands for that of the message.
std::optional<mm_hash> mask_hash(const Key& key, EVP_PKEY_CTX* context, mm_hash hash) {
  const std::string name = text_of(context, OSSL_PKEY_PARAM_RSA_MGF1_DIGEST);
  if (name.empty()) return MM_HASH_NONE;
  const mm_hash mask = hash_of(key.provider(), name);
  if (mask == MM_HASH_NONE) return std::nullopt;
  return mask == hash ? MM_HASH_NONE : mask;
}

/// Data without a DigestInfo, such as the two hashes of TLS 1.1, padded by PKCS#1 v1.5 (RFC 8017, 9.2, step
/// 5).
std::optional<SignatureRequest> unhashed_signature(const Key& key, std::span<const std::uint8_t> data) {
  const auto length = static_cast<std::size_t>(EVP_PKEY_get_size(key.delegate()));
  if (data.size() + 11 > length) return std::nullopt;
  std::vector<std::uint8_t> block(length, 0xff);
  block[0] = 0;
  block[1] = 1;
  block[length - data.size() - 1] = 0;
  std::copy(data.begin(), data.end(), block.end() - static_cast<std::ptrdiff_t>(data.size()));
  return SignatureRequest{{Operation::raw, MM_HASH_NONE, MM_HASH_NONE, 0}, std::move(block)};
}

std::optional<SignatureRequest> rsa_signature(const Key& key, EVP_PKEY_CTX* context,
                                              const std::optional<mm_hash>& hash,
                                              std::span<const std::uint8_t> data) {
  const int padding = number_of(context, OSSL_SIGNATURE_PARAM_PAD_MODE, 0);
  if (padding == RSA_PKCS1_PADDING && !hash) return unhashed_signature(key, data);
  if (!hash || *hash == MM_HASH_NONE) return std::nullopt;
  const std::vector<std::uint8_t> digest(data.begin(), data.end());
  if (padding == RSA_PKCS1_PADDING) {
    return SignatureRequest{{Operation::sign_pkcs1, *hash, MM_HASH_NONE, 0}, digest};
  }
  if (padding != RSA_PKCS1_PSS_PADDING) return std::nullopt;
  const std::optional<mm_hash> mask = mask_hash(key, context, *hash);
  if (!mask) return std::nullopt;
  const int salt = number_of(context, OSSL_SIGNATURE_PARAM_PSS_SALTLEN, RSA_PSS_SALTLEN_AUTO);
  return SignatureRequest{{Operation::sign_pss, *hash, *mask, salt_length(key, salt, *hash)}, digest};
}

/// ECDSA signs strings of any length; the hash decides how nonces are derived.
std::optional<SignatureRequest> ecdsa_signature(EVP_PKEY_CTX* context, const std::optional<mm_hash>& hash,
                                                std::span<const std::uint8_t> data) {
  // Deterministic nonces (OpenSSL 3.2 and newer) were asked for by name.
  if (number_of(context, "nonce-type", 0) != 0) return std::nullopt;
  const mm_hash used = hash.value_or(MM_SHA256);
  if (used == MM_HASH_NONE) return std::nullopt;
  // OpenSSL refuses digests of another length than that of the hash that was set.
  if (hash && data.size() != mm_hash_size(used)) return std::nullopt;
  return SignatureRequest{{Operation::sign_ecdsa, used, MM_HASH_NONE, 0}, {data.begin(), data.end()}};
}

}  // namespace

mm_hash hash_of(const EVP_MD* hash) {
  switch (EVP_MD_get_type(hash)) {
    case NID_sha1:
      return MM_SHA1;
    case NID_sha224:
      return MM_SHA224;
    case NID_sha256:
      return MM_SHA256;
    case NID_sha384:
      return MM_SHA384;
    case NID_sha512:
      return MM_SHA512;
    case NID_sha512_224:
      return MM_SHA512_224;
    case NID_sha512_256:
      return MM_SHA512_256;
    case NID_sha3_224:
      return MM_SHA3_224;
    case NID_sha3_256:
      return MM_SHA3_256;
    case NID_sha3_384:
      return MM_SHA3_384;
    case NID_sha3_512:
      return MM_SHA3_512;
    default:
      return MM_HASH_NONE;
  }
}

mm_hash hash_of(const Provider& provider, const std::string& name) {
  const Libcrypto<EVP_MD> hash(EVP_MD_fetch(provider.library(), name.c_str(), kDelegate));
  return hash == nullptr ? MM_HASH_NONE : hash_of(hash.get());
}

std::optional<SignatureRequest> signature_request(const Key& key, EVP_PKEY_CTX* context,
                                                  std::span<const std::uint8_t> data) {
  const std::string name = text_of(context, OSSL_SIGNATURE_PARAM_DIGEST);
  std::optional<mm_hash> hash;
  // RSA signatures of TLS 1.1 cover an MD5 and a SHA-1 digest, without a DigestInfo.
  const bool is_bare = key.kind() != Kind::ec && is_same_name(name, "MD5-SHA1");
  if (is_bare && data.size() != kTwoHashes) return std::nullopt;
  if (!name.empty() && !is_bare) hash = hash_of(key.provider(), name);
  return key.kind() == Kind::ec ? ecdsa_signature(context, hash, data)
                                : rsa_signature(key, context, hash, data);
}

std::optional<Scheme> decryption_scheme(const Key& key, EVP_PKEY_CTX* context) {
  switch (number_of(context, OSSL_ASYM_CIPHER_PARAM_PAD_MODE, 0)) {
    case RSA_PKCS1_PADDING:
      // OpenSSL 3.2 and newer can be told to report invalid padding.
      if (number_of(context, "implicit-rejection", 1) == 0) return std::nullopt;
      return Scheme{Operation::decrypt_pkcs1, MM_HASH_NONE, MM_HASH_NONE, 0};
    case RSA_PKCS1_WITH_TLS_PADDING:
      return Scheme{Operation::decrypt_pkcs1, MM_HASH_NONE, MM_HASH_NONE, 0};
    case RSA_PKCS1_OAEP_PADDING: {
      const std::string name = text_of(context, OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST);
      const mm_hash hash = name.empty() ? MM_SHA1 : hash_of(key.provider(), name);
      const std::optional<mm_hash> mask = mask_hash(key, context, hash);
      if (hash == MM_HASH_NONE || !mask) return std::nullopt;
      return Scheme{Operation::decrypt_oaep, hash, *mask, 0};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace manymod::provider
