// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/prepared_keys.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "arch/scalar/word.hpp"
#include "crypto/random.hpp"
#include "ecc/schemes/edwards_encoding.hpp"

namespace manymod::ecc {
namespace {

// Scalars in rows are limbs, which a GPU reads as little-endian bytes.
static_assert(std::endian::native == std::endian::little);

/// A sum of products modulo 2^128: see PreparedKeys::is_intact().
class Checksum {
 public:
  /// factors: of 128 bits each, the first one for no word.
  explicit Checksum(const std::uint64_t* factors) : low_(factors[0]), high_(factors[1]), next_(factors + 2) {}

  void add(std::uint64_t word) {
    Limb carry = 0;
    low_ = word::multiply_add(low_, next_[0], word, carry);
    high_ += carry + next_[1] * word;
    next_ += 2;
  }
  /// Words of 8 bytes, the last one with zeros.
  void add(ByteSpan bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), sizeof(std::uint64_t)))) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
      add(word);
    }
  }
  [[nodiscard]] std::uint64_t value() const { return high_; }

 private:
  Limb low_, high_;
  const std::uint64_t* next_;
};

std::size_t words_of(ByteSpan bytes) { return (bytes.size() + sizeof(Limb) - 1) / sizeof(Limb); }

std::size_t scalar_bytes_in_row(const Curve& curve) { return curve.scalar_limbs() * sizeof(Limb); }

}  // namespace

PreparedKeys::PreparedKeys(const ItemsIn& secrets, std::size_t count, std::size_t row_bytes)
    : secrets_(secrets, count),
      are_rows_(std::ranges::all_of(secrets_.all(),
                                    [&](ByteSpan secret) { return secret.size() == secrets_[0].size(); })),
      row_limbs_((row_bytes + sizeof(Limb) - 1) / sizeof(Limb)),
      rows_(count * row_limbs_),
      checksums_(count) {}

std::size_t PreparedKeys::row_bytes(const Curve& curve) {
  if (curve.form == MM_ECC_EDWARDS) return scalar_bytes_in_row(curve) + 2 * edwards_point_bytes(curve);
  const bool has_row = curve.id == CurveId::secp256k1 || curve.id == CurveId::sm2;
  return has_row ? curve.scalar_bytes() + 2 * curve.coordinate_bytes() : 0;
}

void PreparedKeys::put(std::size_t key, const eddsa::KeyParts& parts) {
  std::ranges::copy(parts.scalar, rows_.data() + key * row_limbs_);
  const std::span<std::uint8_t> rest = row(key).subspan(parts.scalar.size_bytes());
  std::ranges::copy(parts.prefix, rest.begin());
  std::ranges::copy(parts.public_key, rest.subspan(parts.prefix.size()).begin());
}

void PreparedKeys::put_point(std::size_t key, ByteSpan x, ByteSpan y) {
  auto to = std::ranges::copy(secrets_[key], row(key).begin()).out;
  to = std::ranges::copy(x, to).out;
  std::ranges::copy(y, to);
}

ByteRows PreparedKeys::rows() const {
  const std::size_t bytes = row_limbs_ * sizeof(Limb);
  return {row(0).data(), bytes, bytes};
}

eddsa::KeyParts PreparedKeys::parts(std::size_t key, const Curve& curve) const {
  const std::size_t size = edwards_point_bytes(curve);
  const ByteSpan rest = row(key).subspan(scalar_bytes_in_row(curve));
  return {{&rows_[key * row_limbs_], curve.scalar_limbs()}, rest.first(size), rest.subspan(size, size)};
}

ByteSpan PreparedKeys::x(std::size_t key, const Curve& curve) const {
  return row(key).subspan(curve.scalar_bytes(), curve.coordinate_bytes());
}
ByteSpan PreparedKeys::y(std::size_t key, const Curve& curve) const {
  return row(key).subspan(curve.scalar_bytes() + curve.coordinate_bytes(), curve.coordinate_bytes());
}

std::span<std::uint8_t> PreparedKeys::row(std::size_t key) {
  return {reinterpret_cast<std::uint8_t*>(rows_.data() + key * row_limbs_), row_limbs_ * sizeof(Limb)};
}
ByteSpan PreparedKeys::row(std::size_t key) const {
  return {reinterpret_cast<const std::uint8_t*>(rows_.all().data() + key * row_limbs_),
          row_limbs_ * sizeof(Limb)};
}

std::uint64_t PreparedKeys::checksum(std::size_t key) const {
  Checksum sum(factors_.data());
  sum.add(secrets_[key]);
  sum.add(row(key));
  return sum.value();
}

void PreparedKeys::seal() {
  std::size_t most = 0;
  for (const ByteSpan secret : secrets()) most = std::max(most, words_of(secret));
  factors_.resize(2 * (1 + most + row_limbs_));
  crypto::random_bytes(std::span(factors_));
  for (std::size_t key = 0; key < size(); ++key) checksums_[key] = checksum(key);
}

bool PreparedKeys::is_intact(std::size_t key) const { return checksum(key) == checksums_[key]; }

}  // namespace manymod::ecc
