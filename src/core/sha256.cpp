// SPDX-License-Identifier: Apache-2.0
#include "core/sha256.hpp"

#include <string_view>

namespace manymod {

void Sha256Sum::add(std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) {
    const std::uint64_t at = bytes_++ % kBlock;
    block_[at / 4] = block_[at / 4] << 8 | byte;
    if (at == kBlock - 1) Sha2::compress(state_, block_);
  }
}

Sha256Digest Sha256Sum::digest() {
  const std::uint64_t bits = 8 * bytes_;
  const std::array<std::uint8_t, kBlock> padding{0x80};
  const std::size_t used = bytes_ % kBlock;
  add(std::span(padding).first((used < 56 ? 56 : 120) - used));
  for (unsigned shift = 64; shift > 0; shift -= 8) {
    const auto byte = static_cast<std::uint8_t>(bits >> (shift - 8));
    add(std::span(&byte, 1));
  }
  Sha256Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state_.word[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

std::string hex_text(const Sha256Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace manymod
