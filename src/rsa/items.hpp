// SPDX-License-Identifier: Apache-2.0
// Input items of the C ABI: byte strings that are checked once and then read one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "manymod/rsa.h"
#include "rsa/bytes.hpp"

namespace manymod::rsa {

/// A checked mm_bytes_view. The bytes are not copied.
class ItemsIn {
 public:
  /// `what` is the name of the view in messages.
  /// @throws StatusError MM_ERR_ARGUMENT, MM_ERR_NULL unless it holds `count` items or one item for all
  ItemsIn(const mm_bytes_view& view, std::size_t count, const char* what);

  /// The bytes of an item, item < count.
  [[nodiscard]] ByteSpan operator[](std::size_t item) const {
    const std::size_t i = view_.count == 1 ? 0 : item;
    if (view_.items != nullptr) return {view_.items[i].data, view_.items[i].size};
    if (view_.offsets != nullptr) {
      const auto begin = static_cast<std::size_t>(view_.offsets[i]);
      return {view_.data + begin, static_cast<std::size_t>(view_.offsets[i + 1]) - begin};
    }
    return {view_.data + i * view_.stride, view_.size};
  }

  /// Whether any item overlaps `bytes`.
  [[nodiscard]] bool overlap(ByteSpan bytes) const;

 private:
  mm_bytes_view view_;  ///< stride 0 is replaced by size
};

}  // namespace manymod::rsa
