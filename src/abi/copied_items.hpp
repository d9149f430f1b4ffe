// SPDX-License-Identifier: Apache-2.0
// Copies of items of the C ABI that outlive a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/items.hpp"
#include "repr/wipe.hpp"

namespace manymod {

/// Copies of byte strings, one after the other; zeroed on destruction.
class CopiedItems {
 public:
  CopiedItems(const ItemsIn& items, std::size_t count) : bytes_(total_bytes(items, count)) {
    std::uint8_t* to = bytes_.data();
    items_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      items_.emplace_back(to, items[i].size());
      to = std::ranges::copy(items[i], to).out;
    }
  }

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] ByteSpan operator[](std::size_t i) const { return items_[i]; }
  [[nodiscard]] std::span<const ByteSpan> all() const { return items_; }

 private:
  SecretBytes bytes_;
  std::vector<ByteSpan> items_;  ///< parts of bytes_

  static std::size_t total_bytes(const ItemsIn& items, std::size_t count) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += items[i].size();
    return bytes;
  }
};

}  // namespace manymod
