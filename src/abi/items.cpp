// SPDX-License-Identifier: Apache-2.0
#include "abi/items.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "core/read_once.hpp"
#include "core/status_error.hpp"

namespace manymod {

std::vector<std::uint32_t> copied_indices(const std::uint32_t* indices, std::size_t count) {
  if (indices == nullptr) return {};
  require_possible(extent_of(count, sizeof *indices, sizeof *indices), "the array of indices");
  return {indices, indices + count};
}

std::size_t extent_of(std::size_t count, std::size_t stride, std::size_t size) {
  if (count == 0) return 0;
  std::size_t bytes = 0;
  const bool overflows =
      __builtin_mul_overflow(count - 1, stride, &bytes) || __builtin_add_overflow(bytes, size, &bytes);
  return overflows ? SIZE_MAX : bytes;
}

void require_possible(std::size_t bytes, const std::string& name) {
  if (bytes <= PTRDIFF_MAX) return;
  throw StatusError(MM_ERR_ARGUMENT, name + " is larger than any array can be");
}

bool overlap(ByteSpan a, ByteSpan b) {
  // Pointers into different arrays are ordered by std::less only.
  const std::less<> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
}

ItemsIn::ItemsIn(const mm_bytes_view& view, std::size_t count, const char* what) : count_(view.count) {
  const std::string name(what);
  if (count_ != count && count_ != 1) {
    throw StatusError(MM_ERR_ARGUMENT, name + ".count is " + std::to_string(count_) + ", expected " +
                                           std::to_string(count) + " or 1");
  }
  if (view.items != nullptr) {
    take_pointers(view, name);
  } else if (view.offsets != nullptr) {
    take_slices(view, name);
  } else {
    take_array(view, name);
  }
}

ItemsIn::ItemsIn(std::span<const ByteSpan> table, bool is_of_rows, std::span<const std::uint32_t> indices)
    : count_(std::max<std::size_t>(1, indices.size())), is_table_of_rows_(is_of_rows) {
  if (count_ == 1) {
    places_.push_back(table[indices.empty() ? 0 : indices[0]]);
  } else {
    table_ = table;
    indices_ = indices;
  }
}

void ItemsIn::take_pointers(const mm_bytes_view& view, const std::string& name) {
  places_.reserve(count_);
  for (std::size_t i = 0; i < count_; ++i) {
    const mm_bytes item{read_once(view.items[i].data), read_once(view.items[i].size)};
    if (item.data == nullptr && item.size != 0) {
      throw StatusError(MM_ERR_NULL, name + ".items[" + std::to_string(i) + "].data is NULL");
    }
    if (item.size > PTRDIFF_MAX) require_possible(item.size, name + ".items[" + std::to_string(i) + "]");
    places_.emplace_back(item.data, item.size);
  }
}

void ItemsIn::take_slices(const mm_bytes_view& view, const std::string& name) {
  places_.reserve(count_);
  std::int64_t begin = read_once(view.offsets[0]);
  for (std::size_t i = 0; i < count_; ++i) {
    const std::int64_t end = read_once(view.offsets[i + 1]);
    if (begin < 0 || end < begin) {
      throw StatusError(MM_ERR_ARGUMENT,
                        name + ".offsets descend or are negative at item " + std::to_string(i));
    }
    if (view.data == nullptr && end > begin) throw StatusError(MM_ERR_NULL, name + ".data is NULL");
    places_.emplace_back(end > begin ? view.data + begin : nullptr, static_cast<std::size_t>(end - begin));
    begin = end;
  }
}

void ItemsIn::take_array(const mm_bytes_view& view, const std::string& name) {
  data_ = view.data;
  size_ = view.size;
  stride_ = view.stride == 0 ? size_ : view.stride;
  if (stride_ < size_) {
    throw StatusError(MM_ERR_ARGUMENT, name + ".stride is " + std::to_string(stride_) +
                                           ", less than its size " + std::to_string(size_));
  }
  if (data_ == nullptr && size_ != 0) throw StatusError(MM_ERR_NULL, name + ".data is NULL");
  require_possible(extent_of(count_, stride_, size_), name);
}

std::optional<ByteRows> ItemsIn::rows() const {
  if (!table_.empty()) {
    if (!is_table_of_rows_) return std::nullopt;
    return ByteRows{table_[0].data(), table_[0].size(), table_[0].size(), indices_.data(), table_.size()};
  }
  if (places_.empty()) return ByteRows{data_, count_ == 1 ? 0 : stride_, size_};
  if (count_ == 1) return ByteRows{places_[0].data(), 0, places_[0].size()};
  return std::nullopt;
}

bool ItemsIn::overlap(ByteSpan bytes) const {
  if (places_.empty() && table_.empty() &&
      !manymod::overlap({data_, extent_of(count_, stride_, size_)}, bytes))
    return false;
  for (std::size_t i = 0; i < count_; ++i) {
    if (manymod::overlap((*this)[i], bytes)) return true;
  }
  return false;
}

}  // namespace manymod
