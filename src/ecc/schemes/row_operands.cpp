// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/row_operands.hpp"

#include <algorithm>
#include <optional>

namespace manymod::ecc {

bool RowOperands::are_rows(ByteRows& to, const ItemsIn& from) const {
  const std::optional<ByteRows> rows = from.rows();
  if (!rows || (rows->stride != 0 && !in_a_row_)) return false;
  to = from_first(*rows);
  return true;
}

ByteRows RowOperands::from_first(ByteRows rows) const {
  if (rows.indices != nullptr) {
    rows.indices += items_.front();
  } else {
    rows.data += items_.front() * rows.stride;
  }
  return rows;
}

std::uint8_t* RowOperands::room(ByteRows& to, std::size_t size) {
  SecretBytes& bytes = gathered_.emplace_back(count() * size);
  to = {bytes.data(), size, size};
  return bytes.data();
}

bool RowOperands::take(ByteRows& to, const ItemsIn& from, std::size_t size, std::size_t used) {
  if (are_rows(to, from)) {
    const bool fit = to.size == size;
    to.size = used;
    return fit;
  }
  return take_converted(to, from, used, [&](std::span<std::uint8_t> row, ByteSpan item) {
    if (item.size() != size) return false;
    std::copy_n(item.data(), used, row.data());
    return true;
  });
}

bool RowOperands::take_any(ByteRows& to, const std::uint32_t*& sizes, const ItemsIn& from, std::size_t most) {
  if (are_rows(to, from)) return to.size <= most;
  sizes_.resize(count());
  std::size_t longest = 0;
  bool any = false;
  for (std::size_t row = 0; row < count(); ++row) {
    const std::size_t size = from[items_[row]].size();
    const bool fit = size <= most;
    if (!fit) fits_[row] = 0;
    sizes_[row] = fit ? static_cast<std::uint32_t>(size) : 0;
    longest = std::max<std::size_t>(longest, sizes_[row]);
    any = any || fit;
  }
  std::uint8_t* const bytes = room(to, longest);
  for (std::size_t row = 0; row < count(); ++row) {
    std::copy_n(from[items_[row]].data(), sizes_[row], bytes + row * longest);
  }
  sizes = sizes_.data();
  return any;
}

}  // namespace manymod::ecc
