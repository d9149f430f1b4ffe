// SPDX-License-Identifier: Apache-2.0
// Bytes that have one owner: files, passwords, numbers of keys, results.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "common/bytes.hpp"

namespace manymod::signd {

/// A string of bytes that is secret: it is moved, never copied.
class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::size_t size) : bytes_(size) {}
  explicit SecretBytes(ByteSpan bytes) : bytes_(bytes.begin(), bytes.end()) {}
  explicit SecretBytes(Bytes&& bytes) : bytes_(std::move(bytes)) {}
  SecretBytes(SecretBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~SecretBytes() = default;

  [[nodiscard]] std::uint8_t* data() { return bytes_.data(); }
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] ByteSpan span() const { return bytes_; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  void append(ByteSpan more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }
  /// Drop what is behind the first `size` bytes. In: size <= size()
  void shorten(std::size_t size) {
    OPENSSL_cleanse(bytes_.data() + size, bytes_.size() - size);
    bytes_.resize(size);
  }

 private:
  Bytes bytes_;
};

}  // namespace manymod::signd
