// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/prepared_keys.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ecc/schemes/edwards_encoding.hpp"

namespace manymod::ecc {
namespace {

/// Odd, so that each step is a bijection of the sum before it, and of the word that it takes.
constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;

std::uint64_t with_word(std::uint64_t sum, std::uint64_t word) {
  return std::rotl((sum ^ word) * kFactor, 29);
}

std::uint64_t with_bytes(std::uint64_t sum, ByteSpan bytes) {
  for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    sum = with_word(sum, word);
  }
  for (const std::uint8_t byte : bytes) sum = with_word(sum, byte);
  return sum;
}

std::size_t total_bytes(const ItemsIn& items, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += items[i].size();
  return bytes;
}

}  // namespace

PreparedKeys::PreparedKeys(const ItemsIn& secrets, std::size_t count, std::size_t limbs)
    : bytes_(total_bytes(secrets, count)),
      limbs_(limbs),
      coordinates_(2 * count * limbs),
      expanded_(count),
      checksums_(count) {
  std::uint8_t* to = bytes_.data();
  secrets_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    secrets_.emplace_back(to, secrets[i].size());
    to = std::ranges::copy(secrets[i], to).out;
  }
}

void PreparedKeys::write_row(std::span<std::uint8_t, kRowBytes> row, std::size_t key) const {
  constexpr std::size_t kPart = kRowBytes / 3, kLimbs = kPart / sizeof(Limb);
  const std::span<std::uint8_t> first = row.first(kPart), second = row.subspan(kPart, kPart),
                                third = row.last(kPart);
  const eddsa::ExpandedKey& expanded = expanded_[key];
  if (expanded.size != 0) {
    little_endian_from_limbs(first, std::span(expanded.scalar).first(kLimbs));
    std::copy_n(expanded.prefix_bytes.begin(), kPart, second.begin());
    std::copy_n(expanded.public_bytes.begin(), kPart, third.begin());
    return;
  }
  std::ranges::copy(secrets_[key], first.begin());
  bytes_from_limbs(second, {x(key), kLimbs});
  bytes_from_limbs(third, {y(key), kLimbs});
}

std::uint64_t PreparedKeys::checksum(std::size_t key) const {
  std::uint64_t sum = with_bytes(kFactor, secrets_[key]);
  const eddsa::ExpandedKey& expanded = expanded_[key];
  if (expanded.size == 0) {
    for (std::size_t i = 0; i < 2 * limbs_; ++i) sum = with_word(sum, coordinates_[2 * key * limbs_ + i]);
    return sum;
  }
  for (const Limb limb : expanded.scalar) sum = with_word(sum, limb);
  return with_bytes(with_bytes(sum, expanded.prefix()), expanded.public_key());
}

void PreparedKeys::seal() {
  for (std::size_t key = 0; key < size(); ++key) checksums_[key] = checksum(key);
}

bool PreparedKeys::is_intact(std::size_t key) const { return checksum(key) == checksums_[key]; }

}  // namespace manymod::ecc
