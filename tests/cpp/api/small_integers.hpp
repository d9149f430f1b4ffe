// SPDX-License-Identifier: Apache-2.0
// Small signed integers as batches of the C ABI, and their expected results by Python's % and pow.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "manymod/manymod.h"

namespace manymod::testing {

/// Integers that fit in int64, stored `width` limbs wide and `stride` limbs apart. The gaps hold a fixed
/// pattern.
class Integers {
 public:
  explicit Integers(const std::vector<std::int64_t>& values, std::size_t width = 1, std::size_t stride = 0)
      : width_(width), stride_(stride == 0 ? width : stride), limbs_(values.size() * stride_, kJunk) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool negative = values[i] < 0;
      negative_.push_back(negative ? 1 : 0);
      for (std::size_t j = 0; j < width_; ++j) limbs_[i * stride_ + j] = 0;
      const auto bits = static_cast<std::uint64_t>(values[i]);
      limbs_[i * stride_] = negative ? 0 - bits : bits;
    }
  }

  [[nodiscard]] std::size_t size() const { return negative_.size(); }
  [[nodiscard]] mm_view view() const { return {limbs_.data(), size(), width_, stride_, negative_.data()}; }
  [[nodiscard]] mm_result result() { return {limbs_.data(), size(), width_, stride_, negative_.data()}; }

  /// Item i; nothing if it does not fit in int64 or is a negative zero.
  [[nodiscard]] std::optional<std::int64_t> value(std::size_t i) const {
    const std::uint64_t* item = &limbs_[i * stride_];
    for (std::size_t j = 1; j < width_; ++j) {
      if (item[j] != 0) return std::nullopt;
    }
    if (item[0] >> 63 != 0 || negative_[i] > 1 || (negative_[i] == 1 && item[0] == 0)) return std::nullopt;
    const auto magnitude = static_cast<std::int64_t>(item[0]);
    return negative_[i] != 0 ? -magnitude : magnitude;
  }

  /// Whether the limbs between the items are unchanged.
  [[nodiscard]] bool gaps_untouched() const {
    for (std::size_t i = 0; i < size(); ++i) {
      for (std::size_t j = width_; j < stride_; ++j) {
        if (limbs_[i * stride_ + j] != kJunk) return false;
      }
    }
    return true;
  }

  std::vector<std::uint64_t>& limbs() { return limbs_; }
  std::vector<std::uint8_t>& negative() { return negative_; }

 private:
  static constexpr std::uint64_t kJunk = 0xdeadbeefdeadbeefULL;
  std::size_t width_;
  std::size_t stride_;
  std::vector<std::uint64_t> limbs_;
  std::vector<std::uint8_t> negative_;
};

/// The expected result and status of an item.
struct Expected {
  mm_status status = MM_OK;
  std::int64_t value = 0;

  friend bool operator==(const Expected&, const Expected&) = default;
};

/// Python's a % n. In: n != 0.
inline std::int64_t python_mod(std::int64_t a, std::int64_t n) {
  const std::int64_t r = a % n;
  return r != 0 && (r < 0) != (n < 0) ? r + n : r;
}

/// Python's pow(b, e, n). In: |n| < 2^31.
inline Expected python_pow(std::int64_t b, std::int64_t e, std::int64_t n) {
  if (n == 0) return {MM_ITEM_ZERO_MODULUS, 0};
  const std::int64_t m = n < 0 ? -n : n;
  if (m == 1) return {};
  std::int64_t base = python_mod(b, m);
  if (e < 0) {
    if (std::gcd(base, m) != 1) return {MM_ITEM_NOT_INVERTIBLE, 0};
    std::int64_t inverse = 1;
    while (inverse * base % m != 1) ++inverse;
    base = inverse;
    e = -e;
  }
  std::int64_t power = 1;
  for (std::int64_t i = 0; i < e; ++i) power = power * base % m;
  return {MM_OK, python_mod(power, n)};
}

inline Expected python_operation(mm_op op, std::int64_t x, std::int64_t y, std::int64_t n) {
  if (n == 0) return {MM_ITEM_ZERO_MODULUS, 0};
  switch (op) {
    case MM_OP_ADDMOD:
      return {MM_OK, python_mod(x + y, n)};
    case MM_OP_SUBMOD:
      return {MM_OK, python_mod(x - y, n)};
    case MM_OP_NEGMOD:
      return {MM_OK, python_mod(-x, n)};
    case MM_OP_MULMOD:
      return {MM_OK, python_mod(x * y, n)};
    case MM_OP_SQRMOD:
      return {MM_OK, python_mod(x * x, n)};
    case MM_OP_INVMOD:
      return python_pow(x, -1, n);
    default:
      return python_pow(x, y, n);
  }
}

/// `expected` in timing class `timing`: constant-time calls reject even moduli.
inline Expected in_class(mm_timing timing, std::int64_t n, Expected expected) {
  if (timing == MM_TIMING_SECRET && n != 0 && n % 2 == 0) return {MM_ITEM_EVEN_MODULUS, 0};
  return expected;
}

}  // namespace manymod::testing
