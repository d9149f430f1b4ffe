// SPDX-License-Identifier: Apache-2.0
// The operands of some items of a call as rows of bytes: where they are, or gathered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "abi/items.hpp"
#include "repr/bytes.hpp"

namespace manymod::ecc {

/// Rows belong to the items in their order; they stay valid as long as the object, whose memory is zeroed
/// then. An item with an operand of another length than asked for does not fit: its row is 0.
class RowOperands {
 public:
  /// On input: items is not empty, and its indices ascend.
  explicit RowOperands(std::span<const std::size_t> items)
      : items_(items), in_a_row_(items.back() - items.front() + 1 == items.size()), fits_(items.size(), 1) {}
  RowOperands(const RowOperands&) = delete;
  RowOperands& operator=(const RowOperands&) = delete;

  [[nodiscard]] std::size_t count() const { return items_.size(); }
  [[nodiscard]] std::span<const std::size_t> items() const { return items_; }
  /// Whether the items follow each other.
  [[nodiscard]] bool in_a_row() const { return in_a_row_; }
  /// 1 for rows that fit, else 0.
  [[nodiscard]] std::span<const std::uint8_t> fits() const { return fits_; }

  /// The first `used` bytes of operands of `size` bytes. @return false if no item fits
  [[nodiscard]] bool take(ByteRows& to, const ItemsIn& from, std::size_t size, std::size_t used);
  [[nodiscard]] bool take(ByteRows& to, const ItemsIn& from, std::size_t size) {
    return take(to, from, size, size);
  }
  /// Operands of any length up to `most`. sizes: of each, null if it is to.size. @return as above
  [[nodiscard]] bool take_any(ByteRows& to, const std::uint32_t*& sizes, const ItemsIn& from,
                              std::size_t most);
  /// Rows of `size` bytes that convert(row, operand) makes of an item's operand. It returns whether the
  /// operand fits. @return as above
  template <class Convert>
  [[nodiscard]] bool take_converted(ByteRows& to, const ItemsIn& from, std::size_t size,
                                    const Convert& convert) {
    std::uint8_t* const bytes = room(to, size);
    bool any = false;
    for (std::size_t row = 0; row < count(); ++row) {
      const bool fit = convert(std::span(bytes + row * size, size), from[items_[row]]);
      if (!fit) fits_[row] = 0;
      any = any || fit;
    }
    return any;
  }
  /// The rows from that of the first item on.
  [[nodiscard]] ByteRows from_first(ByteRows rows) const;
  /// Room for rows that are computed.
  [[nodiscard]] std::uint8_t* room(ByteRows& to, std::size_t size);

 private:
  std::span<const std::size_t> items_;
  bool in_a_row_;
  std::vector<std::uint8_t> fits_;
  std::deque<SecretBytes> gathered_;
  std::vector<std::uint32_t> sizes_;

  /// Whether they are rows already.
  [[nodiscard]] bool are_rows(ByteRows& to, const ItemsIn& from) const;
};

}  // namespace manymod::ecc
