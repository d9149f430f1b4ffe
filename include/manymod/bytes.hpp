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

namespace manymod {
inline namespace wrapper {

/// The bytes of one message, signature, key or number.
using Bytes = std::vector<std::uint8_t>;

namespace detail {

inline mm_bytes view_of(std::span<const std::uint8_t> bytes) { return {bytes.data(), bytes.size()}; }

inline mm_bytes view_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

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

 private:
  Bytes bytes_;
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
