// SPDX-License-Identifier: Apache-2.0
#include "crypto/hash.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "abi/enum_value.hpp"
#include "manymod/rsa.h"

namespace manymod::crypto {
namespace {

constexpr std::array<HashFacts, MM_HASH_COUNT - 1> kHashes{{
    {MM_SHA1, "SHA1", 20, 0},
    {MM_SHA224, "SHA2-224", 28, 4},
    {MM_SHA256, "SHA2-256", 32, 1},
    {MM_SHA384, "SHA2-384", 48, 2},
    {MM_SHA512, "SHA2-512", 64, 3},
    {MM_SHA512_224, "SHA2-512/224", 28, 5},
    {MM_SHA512_256, "SHA2-512/256", 32, 6},
    {MM_SHA3_224, "SHA3-224", 28, 7},
    {MM_SHA3_256, "SHA3-256", 32, 8},
    {MM_SHA3_384, "SHA3-384", 48, 9},
    {MM_SHA3_512, "SHA3-512", 64, 10},
    {MM_SHAKE128, "SHAKE-128", 32, 11, true},
    {MM_SHAKE256, "SHAKE-256", 64, 12, true},
    {MM_SM3, "SM3", 32, 0},
}};

Libcrypto<EVP_MD> fetched(const HashFacts& facts) {
  Libcrypto<EVP_MD> hash(EVP_MD_fetch(nullptr, facts.name, nullptr));
  if (!hash) throw StatusError(MM_ERR_CRYPTO, std::string("libcrypto offers no ") + facts.name);
  return hash;
}

}  // namespace

const HashFacts* find_hash(const mm_hash& hash) {
  const auto found = std::find_if(kHashes.begin(), kHashes.end(), [&](const HashFacts& facts) {
    return enum_value(facts.hash) == enum_value(hash);
  });
  return found == kHashes.end() ? nullptr : &*found;
}

const HashFacts* find_hash_by_name(const char* name) {
  const auto found = std::ranges::find_if(kHashes, [&](const HashFacts& facts) {
    const Libcrypto<EVP_MD> hash(EVP_MD_fetch(nullptr, facts.name, nullptr));
    return hash && EVP_MD_is_a(hash.get(), name) == 1;
  });
  return found == kHashes.end() ? nullptr : &*found;
}

Hasher::Hasher(mm_hash hash) : Hasher(*find_hash(hash), fetched(*find_hash(hash))) {}

Hasher::Hasher(const HashFacts& facts, Libcrypto<EVP_MD> hash)
    : facts_(&facts), hash_(std::move(hash)), context_(EVP_MD_CTX_new()) {
  require_crypto(context_ != nullptr, "EVP_MD_CTX_new");
}

Hasher Hasher::another() const {
  require_crypto(EVP_MD_up_ref(hash_.get()) == 1, "EVP_MD_up_ref");
  return {*facts_, Libcrypto<EVP_MD>(hash_.get())};
}

std::size_t Hasher::block_size() const {
  const int size = EVP_MD_get_block_size(hash_.get());
  require_crypto(size > 0, "EVP_MD_get_block_size");
  return static_cast<std::size_t>(size);
}

void Hasher::digest(std::span<std::uint8_t> digest, std::span<const ByteSpan> parts) {
  fill(digest.first(size()), parts);
}

void Hasher::digest(std::span<std::uint8_t> digest, std::initializer_list<ByteSpan> parts) {
  fill(digest.first(size()), {parts.begin(), parts.size()});
}

void Hasher::fill(std::span<std::uint8_t> output, std::span<const ByteSpan> parts) {
  start();
  update(parts);
  finish(output);
}

void Hasher::begin(ByteSpan bytes) {
  start();
  update({&bytes, 1});
}

void Hasher::continue_digest(std::span<std::uint8_t> digest, const Hasher& begun,
                             std::initializer_list<ByteSpan> parts) {
  require_crypto(EVP_MD_CTX_copy_ex(context_.get(), begun.context_.get()) == 1, "EVP_MD_CTX_copy_ex");
  started_ = true;
  update({parts.begin(), parts.size()});
  finish(digest.first(size()));
}

void Hasher::start() {
  // A null hash keeps that of the previous use.
  const EVP_MD* hash = started_ ? nullptr : hash_.get();
  require_crypto(EVP_DigestInit_ex2(context_.get(), hash, nullptr) == 1, "EVP_DigestInit_ex2");
  started_ = true;
}

void Hasher::update(std::span<const ByteSpan> parts) {
  for (const ByteSpan& part : parts) {
    require_crypto(EVP_DigestUpdate(context_.get(), part.data(), part.size()) == 1, "EVP_DigestUpdate");
  }
}

void Hasher::finish(std::span<std::uint8_t> output) {
  if (facts_->extendable) {
    require_crypto(EVP_DigestFinalXOF(context_.get(), output.data(), output.size()) == 1,
                   "EVP_DigestFinalXOF");
  } else {
    require_crypto(EVP_DigestFinal_ex(context_.get(), output.data(), nullptr) == 1, "EVP_DigestFinal_ex");
  }
}

void Hasher::xor_mask(std::span<std::uint8_t> target, ByteSpan seed) {
  if (facts_->extendable) {
    SecretBytes mask(target.size());
    fill(mask.first(mask.size()), {&seed, 1});
    for (std::size_t i = 0; i < target.size(); ++i) target[i] ^= mask[i];
    return;
  }
  // Seed and counter are one part, because each EVP_DigestUpdate takes a tenth of a short digest's time.
  constexpr std::size_t kCounter = 4;
  std::array<std::uint8_t, MM_RSA_MAX_BITS / 8 + kCounter> storage;
  const std::span<std::uint8_t> input = std::span(storage).first(seed.size() + kCounter);
  std::ranges::copy(seed, input.begin());
  std::ranges::fill(input.last(kCounter), std::uint8_t{0});
  std::array<std::uint8_t, kMaxDigest> block;
  for (std::size_t from = 0; from < target.size(); from += size()) {
    digest(block, {input});
    const std::size_t count = std::min(size(), target.size() - from);
    for (std::size_t i = 0; i < count; ++i) target[from + i] ^= block[i];
    // Targets have at most MM_RSA_MAX_BITS / 8 bytes and digests at least 20: fewer than 256 blocks.
    ++input.back();
  }
  wipe_bytes(block.data(), block.size());
  wipe_bytes(input.data(), input.size());
}

Hmac::Hmac(mm_hash hash)
    : work_(hash), inner_(work_.another()), outer_(work_.another()), block_size_(work_.block_size()) {
  require_crypto(block_size_ <= kMaxBlock, "a hash with a longer block");
}

void Hmac::begin_padded(Hasher& hasher, ByteSpan key, std::uint8_t pad) const {
  std::array<std::uint8_t, kMaxBlock> storage;
  const std::span<std::uint8_t> block = std::span(storage).first(block_size_);
  std::ranges::fill(block, pad);
  for (std::size_t i = 0; i < key.size(); ++i) block[i] = static_cast<std::uint8_t>(block[i] ^ key[i]);
  hasher.begin(block);
  wipe_bytes(block.data(), block.size());
}

void Hmac::set_key(ByteSpan key) {
  begin_padded(inner_, key, 0x36);
  begin_padded(outer_, key, 0x5c);
}

void Hmac::digest(std::span<std::uint8_t> mac, std::initializer_list<ByteSpan> parts) {
  std::array<std::uint8_t, kMaxDigest> digest;
  work_.continue_digest(digest, inner_, parts);
  work_.continue_digest(mac, outer_, {ByteSpan(digest).first(size())});
  wipe_bytes(digest.data(), digest.size());
}

}  // namespace manymod::crypto
