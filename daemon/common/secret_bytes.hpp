// SPDX-License-Identifier: Apache-2.0
// Bytes that are zeroed on destruction: files, passwords, numbers of keys, results.
#pragma once

#include <openssl/crypto.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "common/little_endian.hpp"

namespace manymod::signd {

/// A string of bytes that may be secret. Where it moves to another place in memory, it zeroes the old one.
class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::size_t size) : bytes_(size) {}
  explicit SecretBytes(ByteSpan bytes) : bytes_(bytes.begin(), bytes.end()) {}
  explicit SecretBytes(Bytes bytes) : bytes_(std::move(bytes)) {}
  SecretBytes(SecretBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~SecretBytes() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  [[nodiscard]] std::uint8_t* data() { return bytes_.data(); }
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] ByteSpan span() const { return bytes_; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  void append(ByteSpan more) {
    Bytes longer(size() + more.size());
    std::copy(bytes_.begin(), bytes_.end(), longer.begin());
    std::copy(more.begin(), more.end(), longer.begin() + static_cast<std::ptrdiff_t>(size()));
    OPENSSL_cleanse(bytes_.data(), bytes_.size());
    bytes_ = std::move(longer);
  }
  /// Drop what is behind the first `size` bytes. In: size <= size()
  void shorten(std::size_t size) {
    OPENSSL_cleanse(bytes_.data() + size, bytes_.size() - size);
    bytes_.resize(size);
  }

 private:
  Bytes bytes_;
};

}  // namespace manymod::signd
