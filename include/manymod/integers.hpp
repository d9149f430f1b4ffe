// SPDX-License-Identifier: Apache-2.0
/**
 * @file integers.hpp
 * @brief Batches of integers and views of them, for the calls of manymod.hpp, which includes this header.
 */
#ifndef MANYMOD_INTEGERS_HPP
#define MANYMOD_INTEGERS_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "manymod/calls.hpp"
#include "manymod/manymod.h"

namespace manymod {
inline namespace wrapper {

/// Owns `count` signed integers of `width` limbs each.
class Batch {
 public:
  /// `count` zeros of `width` limbs each. @throws Error with MM_ERR_ARGUMENT if no array can be so large
  Batch(std::size_t count, std::size_t width)
      : width_(width), limbs_(detail::length_of(count, width, sizeof(std::uint64_t))), negative_(count) {}

  /// Number of integers.
  [[nodiscard]] std::size_t size() const noexcept { return negative_.size(); }
  /// Limbs of each.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }

  /// Limbs of item i, 0 <= i < size().
  [[nodiscard]] std::span<std::uint64_t> operator[](std::size_t i) {
    return std::span(limbs_).subspan(i * width_, width_);
  }
  [[nodiscard]] std::span<const std::uint64_t> operator[](std::size_t i) const {
    return std::span(limbs_).subspan(i * width_, width_);
  }
  /// Sign of item i, 0 <= i < size().
  [[nodiscard]] bool negative(std::size_t i) const { return negative_[i] != 0; }
  /// Set the sign of item i, which should not be 0: true for `negative`.
  void set_negative(std::size_t i, bool negative) { negative_[i] = negative ? 1 : 0; }

  /// All limbs, item after item.
  [[nodiscard]] std::span<std::uint64_t> limbs() noexcept { return limbs_; }
  [[nodiscard]] std::span<const std::uint64_t> limbs() const noexcept { return limbs_; }
  /// A byte for each item, 1 for a negative one.
  [[nodiscard]] std::span<std::uint8_t> signs() noexcept { return negative_; }
  [[nodiscard]] std::span<const std::uint8_t> signs() const noexcept { return negative_; }

 private:
  std::size_t width_;
  std::vector<std::uint64_t> limbs_;
  std::vector<std::uint8_t> negative_;
};

/// A read-only view of integers, which must outlive it and every call that uses it.
class View {
 public:
  View() = default;

  /// limbs.size() / width integers, all nonnegative unless `negative` holds a byte for each of them.
  /// @throws Error with MM_ERR_ARGUMENT if limbs.size() is not a multiple of width > 0, or if `negative` has
  /// another size
  View(std::span<const std::uint64_t> limbs, std::size_t width, std::span<const std::uint8_t> negative = {}) {
    detail::require(width != 0 && limbs.size() % width == 0,
                    "manymod::View: the limbs are no whole number of integers of that width");
    const std::size_t count = limbs.size() / width;
    detail::require(negative.empty() || negative.size() == count,
                    "manymod::View: one sign per integer is needed");
    view_ = {limbs.data(), count, width, width, negative.empty() ? nullptr : negative.data()};
  }
  /// All integers of `batch`.
  View(const Batch& batch)  // NOLINT(google-explicit-constructor): a batch is its own view
      : View(batch.limbs(), batch.width(), batch.signs()) {}
  /// A `view` of any stride.
  explicit View(const mm_view& view) : view_(view) {}

  /// Number of integers.
  [[nodiscard]] std::size_t size() const noexcept { return view_.count; }
  /// Limbs of each.
  [[nodiscard]] std::size_t width() const noexcept { return view_.width; }
  /// The view of the C ABI.
  [[nodiscard]] const mm_view& get() const noexcept { return view_; }

 private:
  mm_view view_{};
};

}  // namespace wrapper
}  // namespace manymod
#endif
