// SPDX-License-Identifier: Apache-2.0
// SHA-256 of public data, where libcrypto is not at hand: names and checks of cached files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/sha2.cuda.hpp"

namespace manymod {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// The digest of bytes that come in pieces.
class Sha256Sum {
 public:
  void add(std::span<const std::uint8_t> bytes);
  void add(std::string_view text) { add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}); }
  /// The object must not be used afterwards.
  [[nodiscard]] Sha256Digest digest();

 private:
  using Sha2 = sha2::Sha2<sha2::Sha256>;
  static constexpr std::size_t kBlock = Sha2::kBlockBytes;
  Sha2::State state_ = Sha2::start();
  Sha2::Word block_[kBlock / sizeof(Sha2::Word)]{};  ///< bytes_ % kBlock of its bytes are set, from the first
  std::uint64_t bytes_ = 0;
};

/// 64 lower-case hexadecimal digits.
std::string hex_text(const Sha256Digest& digest);

}  // namespace manymod
