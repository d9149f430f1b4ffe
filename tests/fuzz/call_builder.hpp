// SPDX-License-Identifier: Apache-2.0
// Calls of the C interface for modular arithmetic that a fuzzer's input describes: operands with counts,
// widths, strides and signs, results beside or over them, and at most one mistake whose status is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuzz/bignum.hpp"
#include "fuzz/choices.hpp"
#include "manymod/manymod.h"

namespace manymod::fuzz {

constexpr std::size_t kMostItems = 24;

inline bool uses_x(mm_op op) { return op != MM_OP_FIXED_BASE_POWMOD; }
inline bool uses_y(mm_op op) {
  return op != MM_OP_NEGMOD && op != MM_OP_SQRMOD && op != MM_OP_INVMOD && op != MM_OP_SUMMOD &&
         op != MM_OP_PRODMOD;
}
inline bool has_terms(mm_op op) {
  return op == MM_OP_MULTI_POWMOD || op == MM_OP_SUMMOD || op == MM_OP_PRODMOD || op == MM_OP_DOTMOD;
}
inline bool is_power(mm_op op) {
  return op == MM_OP_POWMOD || op == MM_OP_MULTI_POWMOD || op == MM_OP_FIXED_BASE_POWMOD;
}

/// A batch that is read. The arrays are exactly as long as the interface says, so that AddressSanitizer sees
/// a read beyond them.
class Operand {
 public:
  Operand() = default;
  Operand(std::size_t count, std::size_t width, std::size_t stride)
      : count_(count), width_(width), stride_(stride), limbs_(extent()) {}

  std::size_t count() const { return count_; }
  std::size_t width() const { return width_; }
  std::size_t stride() const { return stride_; }
  std::uint64_t* item(std::size_t i) { return limbs_.data() + i * stride_; }
  std::vector<std::uint64_t>& limbs() { return limbs_; }
  std::vector<std::uint8_t>& signs() { return signs_; }
  void give_signs() { signs_.resize(count_); }

  Number value(std::size_t i) const {
    const std::size_t at = count_ == 1 ? 0 : i;
    return number_of_limbs(std::span(limbs_).subspan(at * stride_, width_),
                           !signs_.empty() && signs_[at] != 0);
  }
  bool has_signs() const { return !signs_.empty(); }
  mm_view view(bool zero_stride) const {
    return {limbs_.data(), count_, width_, zero_stride && stride_ == width_ ? 0 : stride_,
            signs_.empty() ? nullptr : signs_.data()};
  }

 private:
  std::size_t extent() const { return count_ == 0 ? 0 : (count_ - 1) * stride_ + width_; }

  std::size_t count_ = 0, width_ = 1, stride_ = 1;
  std::vector<std::uint64_t> limbs_;
  std::vector<std::uint8_t> signs_;
};

/// What is wrong with a call. kNothing: it is a right one.
enum class Mistake : std::uint8_t {
  nothing,
  null_limbs,
  zero_width,
  short_stride,
  endless_stride,
  wrong_count,
  unaligned_limbs,
  narrow_result,
  null_result_signs,
  null_result,
  wrong_result_count,
  overlap,
  status_over_limbs,
  needless_terms,
  unknown_place,
  absent_device,
  small_struct,
};
constexpr std::size_t kMistakes = 17;

/// A call, its arrays, and the status that it must have if that is an error.
class BuiltCall {
 public:
  BuiltCall(Choices& choices, mm_op op, bool shared, const Operand* fixed_modulus);

  mm_call& call() { return call_; }
  mm_op op() const { return op_; }
  std::size_t count() const { return count_; }
  std::size_t terms() const { return terms_; }
  const Operand& x() const { return x_; }
  const Operand& y() const { return y_; }
  const Operand& z() const { return z_; }
  const Operand& modulus() const { return modulus_; }
  /// MM_OK, or the status of the mistake.
  mm_status error() const { return error_; }
  bool stops() const { return call_.progress != nullptr; }

  std::span<const std::uint64_t> result(std::size_t i) const;
  bool negative_result(std::size_t i) const;
  std::uint8_t status(std::size_t i) const { return statuses_[i]; }
  bool has_statuses() const { return !statuses_.empty(); }
  /// Whether what the call may not write is as it was: everything in a refused call, else the limbs between
  /// items.
  bool kept_its_bounds(bool refused) const;

 private:
  void choose_operands(Choices& choices, bool shared, const Operand* fixed_modulus);
  void choose_result(Choices& choices);
  void make(Choices& choices, Mistake mistake);
  void expect(bool made, mm_status error) {
    if (made) error_ = error;
  }
  mm_view& among_views(Choices& choices);

  mm_op op_;
  bool modulus_is_fixed_;
  std::size_t count_ = 0, terms_ = 0;
  Operand x_, y_, z_, modulus_;  // as they were before the call, which may write over them
  Operand written_x_, written_y_, written_z_, written_modulus_;
  std::vector<std::uint64_t> result_, result_before_;
  std::vector<std::uint8_t> result_signs_, statuses_;
  std::uint64_t* result_limbs_ = nullptr;
  std::uint8_t* result_negative_ = nullptr;
  std::size_t result_stride_ = 0;
  mm_call call_{};
  mm_status error_ = MM_OK;
};

}  // namespace manymod::fuzz
