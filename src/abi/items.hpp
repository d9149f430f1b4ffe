// SPDX-License-Identifier: Apache-2.0
// Input items of the C ABI: byte strings whose places are read and checked once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manymod/bytes.h"
#include "repr/bytes.hpp"

namespace manymod {

/// Byte strings of one length: item i at data + i stride, or if there are indices at data + indices[i]
/// stride; stride 0: one for all items.
struct ByteRows {
  const std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  std::size_t size = 0;
  const std::uint32_t* indices = nullptr;
  std::size_t table_size = 0;  ///< with indices: how many strings these are below
};

/// A copy of a call's indices of keys or curves, one for each item; empty if null: index 0 for all.
/// @throws StatusError MM_ERR_ARGUMENT if no array can have so many
std::vector<std::uint32_t> copied_indices(const std::uint32_t* indices, std::size_t count);

/// Bytes from the first to the end of the last of `count` rows of `size` bytes, `stride` bytes apart;
/// SIZE_MAX if they are more than a size can hold.
std::size_t extent_of(std::size_t count, std::size_t stride, std::size_t size);

/// @throws StatusError MM_ERR_ARGUMENT if no array can have so many bytes: differences of pointers into it
/// would overflow
void require_possible(std::size_t bytes, const std::string& name);

/// Whether two arrays have bytes in common. Their sizes must be possible.
bool overlap(ByteSpan a, ByteSpan b);

/// A checked mm_bytes_view. Pointers, sizes and offsets are copied before they are checked, since other
/// threads or processes may write to the caller's arrays meanwhile. The bytes are not copied: read them once.
class ItemsIn {
 public:
  /// `what` is the name of the view in messages.
  /// @throws StatusError MM_ERR_ARGUMENT, MM_ERR_NULL unless it holds `count` items or one item for all
  ItemsIn(const mm_bytes_view& view, std::size_t count, const char* what);
  /// Strings of a table, item i being table[indices[i]]; without indices table[0] for all items. Both must
  /// outlive this object. is_of_rows: the table's strings have one length and follow each other.
  ItemsIn(std::span<const ByteSpan> table, bool is_of_rows, std::span<const std::uint32_t> indices);

  /// The bytes of an item, item < count.
  [[nodiscard]] ByteSpan operator[](std::size_t item) const {
    const std::size_t i = count_ == 1 ? 0 : item;
    if (!table_.empty()) return table_[indices_[i]];
    return places_.empty() ? ByteSpan(data_ + i * stride_, size_) : places_[i];
  }

  /// Whether the same bytes are given for every item.
  [[nodiscard]] bool is_shared() const { return count_ == 1; }

  /// The items as rows; none where each has a place and a length of its own.
  [[nodiscard]] std::optional<ByteRows> rows() const;

  /// Whether any item overlaps `bytes`.
  [[nodiscard]] bool overlap(ByteSpan bytes) const;

 private:
  std::size_t count_;                ///< the number of items, or 1
  std::vector<ByteSpan> places_;     ///< of items that pointers or offsets give; else empty
  std::span<const ByteSpan> table_;  ///< if items are given by indices; else empty
  bool is_table_of_rows_ = false;
  std::span<const std::uint32_t> indices_;  ///< likewise
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0, stride_ = 0;

  void take_pointers(const mm_bytes_view& view, const std::string& name);
  void take_slices(const mm_bytes_view& view, const std::string& name);
  void take_array(const mm_bytes_view& view, const std::string& name);
};

}  // namespace manymod
