// SPDX-License-Identifier: Apache-2.0
#include "rsa/codec.hpp"

#include <algorithm>
#include <array>

#include "crypto/random.hpp"

namespace manymod::rsa {

Codec::Codec(const CheckedCall& call, std::size_t modulus_bytes) : checked_(call), encoded_(modulus_bytes) {
  if (call.hash != nullptr) hash_.emplace(call.hash->hash);
  if (call.mgf != nullptr) {
    mgf_.emplace(call.mgf == call.hash ? hash_->another() : crypto::Hasher(call.mgf->hash));
  }
  if (call.op == MM_RSA_DECRYPT && call.scheme == MM_RSA_PKCS1V15) hmac_.emplace(MM_SHA256);
}

Codec::Codec(const Codec& other, OfOther) : checked_(other.checked_), encoded_(other.encoded_.size()) {
  if (other.hash_) hash_.emplace(other.hash_->another());
  if (other.mgf_) mgf_.emplace(other.mgf_->another());
  if (other.hmac_) hmac_.emplace(MM_SHA256);
}

Codec::~Codec() { wipe_bytes(std::span(random_).last(drawn_).data(), drawn_); }

mm_status Codec::encode(const Key& key, std::size_t item, std::span<Limb> number) {
  if (!allowed_by(key.pss())) return MM_ITEM_RSA_PADDING;
  const ByteSpan input = checked_.input[item];
  const std::span<std::uint8_t> encoded = encoded_.first(key.bytes());
  mm_status status = MM_ITEM_NOT_COMPUTED;
  switch (checked_.op) {
    case MM_RSA_PUBLIC:
    case MM_RSA_PRIVATE:
      return encode_number(key, input, number);
    case MM_RSA_VERIFY:
      return take_signature(key, item, number);
    case MM_RSA_DECRYPT:
      return encode_ciphertext(key, input, number);
    case MM_RSA_SIGN:
      status = encode_signature(key, input, encoded);
      break;
    case MM_RSA_ENCRYPT:
      status = encode_message(input, encoded);
      break;
  }
  if (status == MM_ITEM_NOT_COMPUTED) limbs_from_bytes(number, encoded);
  return status;
}

bool Codec::allowed_by(const mm_rsa_pss_limits& limits) const {
  if (limits.only == 0) return true;
  if (checked_.scheme != MM_RSA_PSS) return false;
  if (limits.hash != MM_HASH_NONE && limits.hash != checked_.hash->hash) return false;
  if (limits.mgf_hash != MM_HASH_NONE && limits.mgf_hash != checked_.mgf->hash) return false;
  const int salt = checked_.call.padding.salt_length;
  if (salt == MM_RSA_SALT_DIGEST) return limits.least_salt <= static_cast<int>(checked_.hash->size);
  return salt < 0 || limits.least_salt <= salt;
}

mm_status Codec::encode_number(const Key& key, ByteSpan bytes, std::span<Limb> number) const {
  if (bytes.size() > key.bytes()) return MM_ITEM_RSA_LENGTH;
  limbs_from_bytes(number, bytes);
  // Whether it is below n is public: it determines the item's status.
  if (limbs::less(number, key.n()) == 1) return MM_ITEM_NOT_COMPUTED;
  std::ranges::fill(number, Limb{0});
  return MM_ITEM_RSA_RANGE;
}

mm_status Codec::encode_ciphertext(const Key& key, ByteSpan ciphertext, std::span<Limb> number) const {
  if (ciphertext.size() != key.bytes()) return MM_ITEM_RSA_LENGTH;
  if (checked_.scheme == MM_RSA_OAEP && longest_oaep_message(key.bytes(), hash_->size()) < 0) {
    return MM_ITEM_RSA_LENGTH;
  }
  return encode_number(key, ciphertext, number);
}

mm_status Codec::encode_signature(const Key& key, ByteSpan message, std::span<std::uint8_t> encoded) {
  if (digest_has_wrong_size(message)) return MM_ITEM_RSA_LENGTH;
  std::array<std::uint8_t, crypto::kMaxDigest> storage;
  const ByteSpan digest = digest_of(message, storage);
  if (checked_.scheme == MM_RSA_PSS) return encode_pss_signature(key, digest, encoded);
  return encode_pkcs1v15_signature(encoded, *checked_.hash, digest) ? MM_ITEM_NOT_COMPUTED
                                                                    : MM_ITEM_RSA_LENGTH;
}

mm_status Codec::encode_pss_signature(const Key& key, ByteSpan digest, std::span<std::uint8_t> encoded) {
  const PssShape shape = pss_shape(key);
  if (!shape.fits(0)) return MM_ITEM_RSA_LENGTH;
  const int wanted = checked_.call.padding.salt_length;
  std::size_t size = static_cast<std::size_t>(wanted);
  if (wanted == MM_RSA_SALT_DIGEST) size = shape.hash.size();
  if (wanted == MM_RSA_SALT_MAX) size = shape.longest_salt();
  if (size > shape.longest_salt()) return MM_ITEM_RSA_LENGTH;
  if (size < static_cast<std::size_t>(key.pss().least_salt)) return MM_ITEM_RSA_PADDING;
  encode_pss(encoded, shape, digest, fresh(size));
  return MM_ITEM_NOT_COMPUTED;
}

// Random bytes are drawn for several items at once, at first for eight, and then for twice as many each time:
// one RAND_bytes costs as much as six digests. Seeds are secret and salts are not.
std::span<std::uint8_t> Codec::fresh(std::size_t size) {
  static_assert(std::tuple_size_v<decltype(random_)> >= MM_RSA_MAX_BITS / 8);
  if (left_ < size) {
    drawn_ = std::min(random_.size(), std::max(8 * size, 2 * drawn_));
    left_ = drawn_;
    const std::span<std::uint8_t> bytes = std::span(random_).last(drawn_);
    if (checked_.op == MM_RSA_ENCRYPT) {
      crypto::private_random_bytes(bytes);
    } else {
      crypto::random_bytes(bytes);
    }
  }
  left_ -= size;
  return std::span(random_).last(left_ + size).first(size);
}

mm_status Codec::encode_message(ByteSpan message, std::span<std::uint8_t> encoded) {
  const bool oaep = checked_.scheme == MM_RSA_OAEP;
  const std::ptrdiff_t longest =
      oaep ? longest_oaep_message(encoded.size(), hash_->size()) : longest_pkcs1v15_message(encoded.size());
  if (longest < 0 || message.size() > static_cast<std::size_t>(longest)) return MM_ITEM_RSA_LENGTH;
  if (!oaep) {
    encode_pkcs1v15_message(encoded, message);
    return MM_ITEM_NOT_COMPUTED;
  }
  const std::span<std::uint8_t> seed = fresh(hash_->size());
  encode_oaep(encoded, message, ByteSpan(checked_.label_digest).first(hash_->size()), seed, *mgf_);
  wipe_bytes(seed.data(), seed.size());
  return MM_ITEM_NOT_COMPUTED;
}

mm_status Codec::take_signature(const Key& key, std::size_t item, std::span<Limb> number) const {
  checked_.call.valid[item] = 0;
  if (digest_has_wrong_size(checked_.input[item])) return MM_ITEM_RSA_LENGTH;
  const ByteSpan signature = (*checked_.signature)[item];
  const bool pad = checked_.call.left_pad_signatures != 0 && signature.size() < key.bytes();
  if (signature.size() != key.bytes() && !pad) return MM_ITEM_RSA_SIGNATURE_LENGTH;
  return encode_number(key, signature, number) == MM_ITEM_NOT_COMPUTED ? MM_ITEM_NOT_COMPUTED : MM_OK;
}

mm_status Codec::decode(const Key& key, std::size_t item, std::span<const Limb> number,
                        std::span<const Limb> power) {
  const std::span<std::uint8_t> bytes = encoded_.first(key.bytes());
  bytes_from_limbs(bytes, power);
  if (checked_.op == MM_RSA_VERIFY) {
    checked_.call.valid[item] = verified(key, checked_.input[item], bytes) ? 1 : 0;
    return MM_OK;
  }
  if (checked_.op == MM_RSA_DECRYPT) return decode_message(key, item, number, bytes);
  write(item, bytes, bytes.size());
  return MM_OK;
}

bool Codec::verified(const Key& key, ByteSpan message, std::span<std::uint8_t> encoded) {
  std::array<std::uint8_t, crypto::kMaxDigest> storage;
  const ByteSpan digest = digest_of(message, storage);
  if (checked_.scheme == MM_RSA_PKCS1V15) {
    std::array<std::uint8_t, MM_RSA_MAX_BITS / 8> expected;
    const std::span<std::uint8_t> same_size = std::span(expected).first(encoded.size());
    return encode_pkcs1v15_signature(same_size, *checked_.hash, digest) &&
           std::ranges::equal(same_size, encoded);
  }
  const PssShape shape = pss_shape(key);
  const int wanted = checked_.call.padding.salt_length;
  std::size_t size = static_cast<std::size_t>(wanted);
  if (wanted == MM_RSA_SALT_AUTO) size = kAnySalt;
  if (wanted == MM_RSA_SALT_DIGEST) size = shape.hash.size();
  if (wanted == MM_RSA_SALT_MAX) {
    if (!shape.fits(0)) return false;
    size = shape.longest_salt();
  }
  return verify_pss(encoded, shape, digest, size, static_cast<std::size_t>(key.pss().least_salt));
}

mm_status Codec::decode_message(const Key& key, std::size_t item, std::span<const Limb> ciphertext,
                                std::span<std::uint8_t> encoded) {
  if (checked_.scheme == MM_RSA_PKCS1V15) {
    std::array<std::uint8_t, MM_RSA_MAX_BITS / 8> storage;
    const std::span<std::uint8_t> given = std::span(storage).first(encoded.size());
    bytes_from_limbs(given, ciphertext);
    const std::uint64_t size = decode_pkcs1v15_message(encoded, key.exponent_digest(), given, *hmac_);
    write(item, encoded, size);
    return MM_OK;
  }
  const Decoded decoded = decode_oaep(encoded, ByteSpan(checked_.label_digest).first(hash_->size()), *mgf_);
  write(item, encoded, decoded.size);
  // Whether the padding is valid is public from here on.
  return decoded.good != 0 ? MM_OK : MM_ITEM_RSA_DECRYPTION;
}

bool Codec::digest_has_wrong_size(ByteSpan message) const {
  return checked_.call.padding.prehashed != 0 && message.size() != checked_.hash->size;
}

ByteSpan Codec::digest_of(ByteSpan message, std::span<std::uint8_t> storage) {
  if (checked_.call.padding.prehashed != 0) return message;
  hash_->digest(storage, {message});
  return storage.first(hash_->size());
}

void Codec::write(std::size_t item, ByteSpan bytes, std::size_t size) const {
  const mm_bytes_result& output = checked_.call.output;
  std::ranges::copy(bytes, output.data + item * output.stride);
  if (output.sizes != nullptr) output.sizes[item] = size;
}

}  // namespace manymod::rsa
