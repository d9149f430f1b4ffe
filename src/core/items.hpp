// SPDX-License-Identifier: Apache-2.0
// Sets of item indices.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>

namespace manymod {

/// Indices of items in a batch: a run first, first + 1, .., which needs no memory, or a list owned by the
/// caller. When a GPU computes the batch, writing and reading a list would be a large part of the host's
/// work.
class Items {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::size_t*;
    using reference = std::size_t;

    Iterator() = default;
    std::size_t operator*() const { return list_ == nullptr ? at_ : list_[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    friend class Items;
    Iterator(const std::size_t* list, std::size_t at) : list_(list), at_(at) {}

    const std::size_t* list_ = nullptr;
    std::size_t at_ = 0;  // position in the list, or the index itself if there is no list
  };

  Items() = default;
  /// A list: a span, vector or array, which must outlive it.
  template <class List>
    requires(!std::same_as<List, Items> && std::convertible_to<const List&, std::span<const std::size_t>>)
  Items(const List& list) {
    const std::span<const std::size_t> all = list;
    list_ = all.data();
    size_ = all.size();
  }
  /// The run first, first + 1, .. first + size - 1.
  static Items run(std::size_t first, std::size_t size) {
    Items items;
    items.first_ = first;
    items.size_ = size;
    return items;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// The i-th index. On input: i < size().
  [[nodiscard]] std::size_t operator[](std::size_t i) const {
    return list_ == nullptr ? first_ + i : list_[i];
  }
  [[nodiscard]] std::size_t front() const { return (*this)[0]; }
  [[nodiscard]] std::size_t back() const { return (*this)[size_ - 1]; }
  /// The indices at positions begin .. begin + size - 1. On input: begin + size <= size().
  [[nodiscard]] Items subspan(std::size_t begin, std::size_t size) const {
    return list_ == nullptr ? run(first_ + begin, size) : Items(std::span(list_ + begin, size));
  }

  /// Whether this is a run rather than a list.
  [[nodiscard]] bool is_run() const { return list_ == nullptr; }
  /// The list; empty for a run.
  [[nodiscard]] std::span<const std::size_t> list() const { return {list_, is_run() ? 0 : size_}; }

  [[nodiscard]] Iterator begin() const { return {list_, is_run() ? first_ : 0}; }
  [[nodiscard]] Iterator end() const { return {list_, is_run() ? first_ + size_ : size_}; }

 private:
  const std::size_t* list_ = nullptr;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace manymod
