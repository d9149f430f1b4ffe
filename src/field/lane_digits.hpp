// SPDX-License-Identifier: Apache-2.0
// The linear-time functions of a field in lanes that lanes::Kernels does not have.
#pragma once

#include <cstddef>

#include "lanes/kernels.hpp"
#include "repr/canonical.hpp"

namespace manymod::field {

/// Functions on elements of `digits` digits in the lanes of one vector (lanes::Kernels), of the instruction
/// set that the kernels need.
///
/// Results have exact digits. Of operands only the low digit_bits bits of each word are read. r may be an
/// operand. Constant-time: time and addresses depend on `digits` alone.
struct LaneDigits {
  /// r = a + b. On input: a + b < R.
  void (*add)(Limb* r, const Limb* a, const Limb* b, std::size_t digits) = nullptr;
  /// r = a + m - b. On input: b <= m, a + m < R.
  void (*sub)(Limb* r, const Limb* a, const Limb* b, const Limb* m, std::size_t digits) = nullptr;
  /// r = (a + (a mod 2) n) / 2. On input: a + n < R, n odd.
  void (*half)(Limb* r, const Limb* a, const Limb* n, std::size_t digits) = nullptr;
  /// Lane by lane r = mask ? a : r; mask: a word for each lane, all ones or 0.
  void (*cmov)(Limb* r, const Limb* a, const Limb* mask, std::size_t digits) = nullptr;
  /// Lane by lane mask = all ones where a is 0 or n, else 0. On input: n has exact digits.
  void (*is_zero)(Limb* mask, const Limb* a, const Limb* n, std::size_t digits) = nullptr;
};

/// The functions for vectors of `kernels`, or null where there are none: digits must be of 29 or 52 bits.
const LaneDigits* lane_digits(const lanes::Kernels& kernels);

#if MANYMOD_X86_64
/// 4 lanes.
const LaneDigits* avx2_lane_digits(unsigned digit_bits);
/// 8 lanes.
const LaneDigits* avx512f_lane_digits(unsigned digit_bits);
#endif

}  // namespace manymod::field
