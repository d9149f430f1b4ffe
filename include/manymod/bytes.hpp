// SPDX-License-Identifier: Apache-2.0
/**
 * @file bytes.hpp
 * @brief Containers of bytes for the C++20 wrappers rsa.hpp and ecc.hpp. Header only.
 */
#ifndef MANYMOD_BYTES_HPP
#define MANYMOD_BYTES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "manymod/bytes.h"
#include "manymod/calls.hpp"

namespace manymod {
inline namespace wrapper {

/// The bytes of one message, signature, key or number.
using Bytes = std::vector<std::uint8_t>;

namespace detail {

inline mm_bytes view_of(std::span<const std::uint8_t> bytes) { return {bytes.data(), bytes.size()}; }

inline std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline mm_bytes view_of(std::string_view text) { return view_of(bytes_of(text)); }

inline Bytes copy_of(const mm_bytes& bytes) { return {bytes.data, bytes.data + bytes.size}; }

/// Bytes that are zeroed on destruction: decrypted messages pass through them.
class WipedBytes {
 public:
  explicit WipedBytes(std::size_t size) : bytes_(size) {}
  WipedBytes(const WipedBytes&) = delete;
  WipedBytes& operator=(const WipedBytes&) = delete;
  ~WipedBytes() {
    volatile std::uint8_t* byte = bytes_.data();
    for (std::size_t i = 0; i < bytes_.size(); ++i) byte[i] = 0;
  }
  [[nodiscard]] std::uint8_t* data() { return bytes_.data(); }
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.data(); }

 private:
  Bytes bytes_;
};

/// What a call writes: rows of at most `stride` bytes, which are zeroed on destruction.
class OutputRows {
 public:
  OutputRows(std::size_t count, std::size_t stride)
      : stride_(stride), sizes_(count), data_(length_of(count, stride, 1)) {}

  /// Where the call is to write.
  [[nodiscard]] mm_bytes_result result() { return {data_.data(), sizes_.size(), stride_, sizes_.data()}; }

  /// Copies of the rows, each of its own size.
  [[nodiscard]] std::vector<Bytes> rows() const {
    std::vector<Bytes> copies(sizes_.size());
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const std::uint8_t* const begin = data_.data() + i * stride_;
      copies[i].assign(begin, begin + sizes_[i]);
    }
    return copies;
  }

 private:
  std::size_t stride_;
  std::vector<std::size_t> sizes_;
  WipedBytes data_;
};

/// Byte strings as an mm_bytes_view; they must outlive it.
class Items {
 public:
  explicit Items(std::span<const Bytes> items) : items_(items.size()) {
    std::transform(items.begin(), items.end(), items_.begin(),
                   [](const Bytes& bytes) { return view_of(bytes); });
  }
  [[nodiscard]] mm_bytes_view view() const {
    mm_bytes_view view{};
    view.count = items_.size();
    view.items = items_.data();
    return view;
  }

 private:
  std::vector<mm_bytes> items_;
};

}  // namespace detail
}  // namespace wrapper
}  // namespace manymod

#endif
