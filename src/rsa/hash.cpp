// SPDX-License-Identifier: Apache-2.0
#include "rsa/hash.hpp"

#include <algorithm>
#include <string>

#include "abi/enum_value.hpp"

namespace manymod::rsa {
namespace {

constexpr std::array<HashFacts, MM_RSA_HASH_COUNT - 1> kHashes{{
    {MM_RSA_SHA1, "SHA1", 20, 0},
    {MM_RSA_SHA224, "SHA2-224", 28, 4},
    {MM_RSA_SHA256, "SHA2-256", 32, 1},
    {MM_RSA_SHA384, "SHA2-384", 48, 2},
    {MM_RSA_SHA512, "SHA2-512", 64, 3},
    {MM_RSA_SHA512_224, "SHA2-512/224", 28, 5},
    {MM_RSA_SHA512_256, "SHA2-512/256", 32, 6},
    {MM_RSA_SHA3_224, "SHA3-224", 28, 7},
    {MM_RSA_SHA3_256, "SHA3-256", 32, 8},
    {MM_RSA_SHA3_384, "SHA3-384", 48, 9},
    {MM_RSA_SHA3_512, "SHA3-512", 64, 10},
}};

constexpr std::size_t kSha256Block = 64;

Libcrypto<EVP_MD> fetched(const HashFacts& facts) {
  Libcrypto<EVP_MD> hash(EVP_MD_fetch(nullptr, facts.name, nullptr));
  if (!hash) throw StatusError(MM_ERR_CRYPTO, std::string("libcrypto offers no ") + facts.name);
  return hash;
}

}  // namespace

const HashFacts* find_hash(const mm_rsa_hash& hash) {
  const auto found = std::find_if(kHashes.begin(), kHashes.end(), [&](const HashFacts& facts) {
    return enum_value(facts.hash) == enum_value(hash);
  });
  return found == kHashes.end() ? nullptr : &*found;
}

Hasher::Hasher(mm_rsa_hash hash)
    : facts_(find_hash(hash)), hash_(fetched(*facts_)), context_(EVP_MD_CTX_new()) {
  require_crypto(context_ != nullptr, "EVP_MD_CTX_new");
}

void Hasher::digest(std::span<std::uint8_t> digest, std::initializer_list<ByteSpan> parts) {
  // Without a hash, the context is used again as it is.
  const EVP_MD* hash = started_ ? nullptr : hash_.get();
  require_crypto(EVP_DigestInit_ex2(context_.get(), hash, nullptr) == 1, "EVP_DigestInit_ex2");
  started_ = true;
  for (const ByteSpan& part : parts) {
    require_crypto(EVP_DigestUpdate(context_.get(), part.data(), part.size()) == 1, "EVP_DigestUpdate");
  }
  require_crypto(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1, "EVP_DigestFinal_ex");
}

void Hasher::xor_mask(std::span<std::uint8_t> target, ByteSpan seed) {
  std::array<std::uint8_t, kMaxDigest> block;
  std::array<std::uint8_t, 4> counter{};
  for (std::size_t from = 0; from < target.size(); from += size()) {
    digest(block, {seed, counter});
    const std::size_t count = std::min(size(), target.size() - from);
    for (std::size_t i = 0; i < count; ++i) target[from + i] ^= block[i];
    // Targets have at most 1024 bytes and digests at least 20.
    ++counter[3];
  }
  wipe_bytes(block.data(), block.size());
}

Sha256Digest hmac(Hasher& sha256, ByteSpan key, std::initializer_list<ByteSpan> parts) {
  std::array<std::uint8_t, kSha256Block> inner;
  std::array<std::uint8_t, kSha256Block> outer;
  for (std::size_t i = 0; i < kSha256Block; ++i) {
    const std::uint8_t byte = i < key.size() ? key[i] : std::uint8_t{0};
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  Sha256Digest result;
  std::array<ByteSpan, 5> all{ByteSpan(inner)};
  std::copy(parts.begin(), parts.end(), all.begin() + 1);
  sha256.digest(result, {all[0], all[1], all[2], all[3], all[4]});
  sha256.digest(result, {outer, result});
  wipe_bytes(inner.data(), inner.size());
  wipe_bytes(outer.data(), outer.size());
  return result;
}

}  // namespace manymod::rsa
