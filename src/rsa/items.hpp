// SPDX-License-Identifier: Apache-2.0
// Items of bytes of the C ABI: checked once, then read and written one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "manymod/rsa.h"
#include "rsa/bytes.hpp"

namespace manymod::rsa {

/// Items to read.
class ItemsIn {
 public:
  /// @throws StatusError if it does not hold `count` items, or one that serves all; `what` names it
  ItemsIn(const mm_bytes_view& view, std::size_t count, const char* what);

  [[nodiscard]] ByteSpan operator[](std::size_t item) const {
    const std::size_t i = view_.count == 1 ? 0 : item;
    if (view_.items != nullptr) return {view_.items[i].data, view_.items[i].size};
    if (view_.offsets != nullptr) {
      const auto begin = static_cast<std::size_t>(view_.offsets[i]);
      return {view_.data + begin, static_cast<std::size_t>(view_.offsets[i + 1]) - begin};
    }
    return {view_.data + i * view_.stride, view_.size};
  }

  /// Whether a byte of any item lies in `bytes`.
  [[nodiscard]] bool overlap(ByteSpan bytes) const;

 private:
  mm_bytes_view view_;  ///< its stride resolved
};

}  // namespace manymod::rsa
