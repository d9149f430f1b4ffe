// SPDX-License-Identifier: Apache-2.0
#include "rsa/padding.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "crypto/random.hpp"

namespace manymod::rsa {
namespace {

namespace ct = constant_time;

// 00 02, at least 8 bytes of padding, 00.
constexpr std::size_t kPkcs1v15Overhead = 11;
// Candidates for the length of a synthetic message. Each fits with probability above 1/2, so that none does
// with probability below 2^-128.
constexpr std::size_t kLengthCandidates = 128;

// DER of DigestInfo up to the digest's own bytes (RFC 8017, section 9.2, note 1).
struct DigestInfoPrefix {
  std::array<std::uint8_t, 19> bytes;
  std::size_t size;
};

DigestInfoPrefix digest_info_prefix(const crypto::HashFacts& hash) {
  const auto digest = static_cast<std::uint8_t>(hash.size);
  if (hash.identifier == 0) {
    return {{0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, digest}, 15};
  }
  return {{0x30, static_cast<std::uint8_t>(17 + digest), 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65,
           0x03, 0x04, 0x02, hash.identifier, 0x05, 0x00, 0x04, digest},
          19};
}

template <class Bytes>
void copy_to(std::span<std::uint8_t> target, const Bytes& bytes) {
  std::copy(bytes.begin(), bytes.end(), target.begin());
}

// H = Hash(eight zero bytes || digest || salt).
void pss_hash(std::span<std::uint8_t> hashed, crypto::Hasher& hash, ByteSpan digest, ByteSpan salt) {
  constexpr std::array<std::uint8_t, 8> kZeros{};
  hash.digest(hashed, {kZeros, digest.first(hash.size()), salt});
}

// The parts of an encoded PSS message.
struct PssParts {
  std::span<std::uint8_t> above;  ///< a leading zero byte, where the encoded message is shorter than k
  std::span<std::uint8_t> data_block;
  std::span<std::uint8_t> hashed;
  std::uint8_t& last;
  std::uint8_t top_mask;  ///< bits of the data block's first byte that the number has
};

PssParts pss_parts(std::span<std::uint8_t> encoded, const PssShape& shape) {
  const std::size_t above = encoded.size() - shape.encoded_bytes();
  const std::span<std::uint8_t> message = encoded.subspan(above);
  const std::size_t data = message.size() - shape.hash.size() - 1;
  const std::size_t unused_bits = 8 * message.size() - shape.encoded_bits();
  return {encoded.first(above), message.first(data), message.subspan(data, shape.hash.size()), message.back(),
          static_cast<std::uint8_t>(0xff >> unused_bits)};
}

void random_nonzero(std::span<std::uint8_t> bytes) {
  crypto::private_random_bytes(bytes);
  for (std::uint8_t& byte : bytes) {
    while (byte == 0) crypto::private_random_bytes(std::span(&byte, 1));
  }
}

// The pseudorandom function of implicit rejection: each 32 bytes of output are the HMAC of a block counter,
// the label, which names the purpose of the output, and the number of output bits. `hmac` has the key.
void rejection_bytes(std::span<std::uint8_t> out, crypto::Hmac& hmac, std::string_view label) {
  const std::size_t bits = 8 * out.size();
  const std::array<std::uint8_t, 2> length{static_cast<std::uint8_t>(bits >> 8),
                                           static_cast<std::uint8_t>(bits)};
  std::array<std::uint8_t, 2> counter{};
  const ByteSpan label_bytes(reinterpret_cast<const std::uint8_t*>(label.data()), label.size());
  crypto::Sha256Digest block;
  for (std::size_t from = 0; from < out.size(); from += block.size()) {
    hmac.digest(block, {counter, label_bytes, length});
    const std::size_t count = std::min(block.size(), out.size() - from);
    std::copy_n(block.begin(), count, out.begin() + static_cast<std::ptrdiff_t>(from));
    ++counter[1];
  }
  wipe_bytes(block.data(), block.size());
}

// The last candidate below `limit`, of candidates cut to as many bits as `limit` has.
std::uint64_t synthetic_length(ByteSpan candidates, std::uint64_t limit) {
  std::uint64_t mask = limit;
  for (unsigned shift = 1; shift < 16; shift *= 2) mask |= mask >> shift;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < candidates.size(); i += 2) {
    const std::uint64_t candidate = ((std::uint64_t{candidates[i]} << 8) | candidates[i + 1]) & mask;
    length = ct::select(ct::less(candidate, limit), candidate, length);
  }
  return length;
}

}  // namespace

bool encode_pkcs1v15_signature(std::span<std::uint8_t> encoded, const crypto::HashFacts& hash,
                               ByteSpan digest) {
  const DigestInfoPrefix prefix = digest_info_prefix(hash);
  const std::size_t info = prefix.size + hash.size;
  if (encoded.size() < info + kPkcs1v15Overhead) return false;
  const std::size_t separator = encoded.size() - info - 1;
  encoded[0] = 0;
  encoded[1] = 1;
  for (std::size_t i = 2; i < separator; ++i) encoded[i] = 0xff;
  encoded[separator] = 0;
  copy_to(encoded.subspan(separator + 1), std::span(prefix.bytes).first(prefix.size));
  copy_to(encoded.last(hash.size), digest.first(hash.size));
  return true;
}

void encode_pss(std::span<std::uint8_t> encoded, const PssShape& shape, ByteSpan digest, ByteSpan salt) {
  std::fill(encoded.begin(), encoded.end(), std::uint8_t{0});
  const PssParts parts = pss_parts(encoded, shape);
  pss_hash(parts.hashed, shape.hash, digest, salt);
  parts.data_block[parts.data_block.size() - salt.size() - 1] = 1;
  copy_to(parts.data_block.last(salt.size()), salt);
  shape.mgf.xor_mask(parts.data_block, parts.hashed);
  parts.data_block[0] &= parts.top_mask;
  parts.last = 0xbc;
}

bool verify_pss(std::span<std::uint8_t> encoded, const PssShape& shape, ByteSpan digest, std::size_t salt,
                std::size_t least_salt) {
  if (!shape.fits(salt == kAnySalt ? 0 : salt)) return false;
  const PssParts parts = pss_parts(encoded, shape);
  if (!parts.above.empty() && parts.above[0] != 0) return false;
  if (parts.last != 0xbc || (parts.data_block[0] & ~parts.top_mask) != 0) return false;
  shape.mgf.xor_mask(parts.data_block, parts.hashed);
  parts.data_block[0] &= parts.top_mask;
  const ByteSpan marked = without_leading_zeros_var(parts.data_block);
  if (marked.empty() || marked[0] != 1) return false;
  const std::size_t found = marked.size() - 1;
  if ((salt != kAnySalt && found != salt) || found < least_salt) return false;
  std::array<std::uint8_t, crypto::kMaxDigest> expected;
  pss_hash(expected, shape.hash, digest, marked.subspan(1));
  return std::equal(parts.hashed.begin(), parts.hashed.end(), expected.begin());
}

std::ptrdiff_t longest_pkcs1v15_message(std::size_t modulus_bytes) {
  return static_cast<std::ptrdiff_t>(modulus_bytes) - static_cast<std::ptrdiff_t>(kPkcs1v15Overhead);
}

std::ptrdiff_t longest_oaep_message(std::size_t modulus_bytes, std::size_t digest_size) {
  const auto overhead = static_cast<std::ptrdiff_t>(2 * digest_size + 2);
  return std::max<std::ptrdiff_t>(-1, static_cast<std::ptrdiff_t>(modulus_bytes) - overhead);
}

void encode_pkcs1v15_message(std::span<std::uint8_t> encoded, ByteSpan message) {
  const std::size_t separator = encoded.size() - message.size() - 1;
  encoded[0] = 0;
  encoded[1] = 2;
  random_nonzero(encoded.subspan(2, separator - 2));
  encoded[separator] = 0;
  copy_to(encoded.last(message.size()), message);
}

void encode_oaep(std::span<std::uint8_t> encoded, ByteSpan message, ByteSpan label_digest, ByteSpan seed,
                 crypto::Hasher& mgf) {
  const std::size_t digest = label_digest.size();
  std::fill(encoded.begin(), encoded.end(), std::uint8_t{0});
  const std::span<std::uint8_t> masked_seed = encoded.subspan(1, digest);
  const std::span<std::uint8_t> data_block = encoded.subspan(1 + digest);
  copy_to(data_block, label_digest);
  data_block[data_block.size() - message.size() - 1] = 1;
  copy_to(data_block.last(message.size()), message);
  copy_to(masked_seed, seed);
  mgf.xor_mask(data_block, seed);
  mgf.xor_mask(masked_seed, data_block);
}

Decoded decode_oaep(std::span<std::uint8_t> encoded, ByteSpan label_digest, crypto::Hasher& mgf) {
  const std::size_t digest = label_digest.size();
  const std::span<std::uint8_t> seed = encoded.subspan(1, digest);
  const std::span<std::uint8_t> data_block = encoded.subspan(1 + digest);
  mgf.xor_mask(seed, data_block);
  mgf.xor_mask(data_block, seed);
  ct::Mask good = ct::is_zero(encoded[0]) & ct::equal_bytes(data_block.first(digest), label_digest);

  // Zeros, then a one, then the message.
  ct::Mask found = 0;
  std::uint64_t separator = 0;
  for (std::size_t i = digest; i < data_block.size(); ++i) {
    const ct::Mask one = ct::equal(data_block[i], 1);
    separator = ct::select(one & ~found, i, separator);
    found |= one;
    good &= found | ct::is_zero(data_block[i]);
  }
  good &= found;

  const std::uint64_t distance = 1 + digest + separator + 1;
  ct::shift_to_front(encoded, distance);
  for (std::uint8_t& byte : encoded) byte = ct::select_byte(good, byte, 0);
  return {good, (encoded.size() - distance) & good};
}

std::uint64_t decode_pkcs1v15_message(std::span<std::uint8_t> encoded, ByteSpan exponent_digest,
                                      ByteSpan ciphertext, crypto::Hmac& hmac) {
  const std::size_t size = encoded.size();
  crypto::Sha256Digest key;
  hmac.set_key(exponent_digest);
  hmac.digest(key, {ciphertext});
  hmac.set_key(key);
  SecretBytes synthetic(size);
  SecretBytes candidates(2 * kLengthCandidates);
  rejection_bytes(synthetic.first(size), hmac, "message");
  rejection_bytes(candidates.first(candidates.size()), hmac, "length");
  wipe_bytes(key.data(), key.size());
  const std::uint64_t rejected_size =
      synthetic_length(candidates.first(candidates.size()), size - (kPkcs1v15Overhead - 1));

  ct::Mask good = ct::is_zero(encoded[0]) & ct::equal(encoded[1], 2);
  ct::Mask found = 0;
  std::uint64_t separator = 0;
  for (std::size_t i = 2; i < size; ++i) {
    const ct::Mask zero = ct::is_zero(encoded[i]);
    separator = ct::select(zero & ~found, i, separator);
    found |= zero;
  }
  // Where there is no zero, the separator stays 0.
  good &= ~ct::less(separator, kPkcs1v15Overhead - 1);

  const std::uint64_t message_size = ct::select(good, size - separator - 1, rejected_size);
  for (std::size_t i = 0; i < size; ++i) {
    encoded[i] = ct::select_byte(good, encoded[i], synthetic.data()[i]);
  }
  ct::shift_to_front(encoded, size - message_size);
  return message_size;
}

}  // namespace manymod::rsa
