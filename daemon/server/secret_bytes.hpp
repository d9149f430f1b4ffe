// SPDX-License-Identifier: Apache-2.0
// Bytes that are zeroed on destruction.
#pragma once

#include <openssl/crypto.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/little_endian.hpp"

namespace manymod::signd {

/// A growing string of secret bytes. Where it moves to another place in memory, it zeroes the old one.
class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::size_t size) : bytes_(size) {}
  SecretBytes(SecretBytes&& other) noexcept : bytes_(std::move(other.bytes_)) {}
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~SecretBytes() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  [[nodiscard]] std::uint8_t* data() { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] ByteSpan span() const { return bytes_; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  void append(ByteSpan more) { resize(size() + more.size(), more); }
  /// Drop what is behind the first `size` bytes.
  void shorten(std::size_t size) {
    OPENSSL_cleanse(bytes_.data() + size, bytes_.size() - size);
    bytes_.resize(size);
  }

 private:
  void resize(std::size_t size, ByteSpan more) {
    Bytes longer(size);
    std::copy(bytes_.begin(), bytes_.end(), longer.begin());
    std::copy(more.begin(), more.end(), longer.begin() + static_cast<std::ptrdiff_t>(bytes_.size()));
    OPENSSL_cleanse(bytes_.data(), bytes_.size());
    bytes_ = std::move(longer);
  }

  Bytes bytes_;
};

/// The content of a file. @throws std::runtime_error that names it
SecretBytes read_secret_file(const std::string& path);
/// The first line of a text, without its end.
inline std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

}  // namespace manymod::signd
