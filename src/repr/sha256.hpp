// SPDX-License-Identifier: Apache-2.0
// SHA-256 of public data, where libcrypto is not at hand: names and checks of cached files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace manymod {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// FIPS 180-4, 6.2.
class Sha256 {
 public:
  void add(std::span<const std::uint8_t> bytes);
  void add(std::string_view text) { add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}); }
  /// The object must not be used afterwards.
  [[nodiscard]] Sha256Digest digest();

 private:
  static constexpr std::size_t kBlock = 64;
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlock> block_{};
  std::uint64_t bytes_ = 0;

  void compress();
};

/// 64 lower-case hexadecimal digits.
std::string hex_text(const Sha256Digest& digest);

}  // namespace manymod
