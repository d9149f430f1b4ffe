// SPDX-License-Identifier: Apache-2.0
// Scalars in signed odd digits, so that every window has an addition and none is of zero.
//
// For odd k < 2^(w l), k = sum of d_i 2^(w i) for i < l with odd digits |d_i| < 2^w:
//     d_i = 2 b_i - (2^w - 1), with b_i the digits of w bits of b = (k + 2^(w l) - 1) / 2,
// since 2 b = k + (2^w - 1) (1 + 2^w + .. + 2^(w (l-1))). An even k is replaced by n - k, which is odd, and
// the result is negated (Joye, Tunstall, "Exponent recoding and regular exponentiation algorithms", 2009,
// give the digits one by one).
//
// Timing: constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "ecc/cuda/jobs.cuda.hpp"

namespace manymod::ecc::cuda {

/// A digit d = +-(2 index + 1).
struct OddDigit {
  unsigned index;
  std::uint32_t negative;  ///< a mask
};

/// d = 2 b - (2^w - 1), w = window.
MM_DEVICE OddDigit odd_digit(std::uint32_t b, unsigned window) {
  const std::uint32_t negative = manymod::cuda::opaque((b >> (window - 1) & 1) - 1);
  return {(b ^ negative) & ((1u << (window - 1)) - 1), negative};
}

/// The bits of a digit, as a constant, so that shift distances are constants, too.
template <unsigned kWidth>
struct FixedWindow {
  static constexpr unsigned kMost = kWidth;
  MM_DEVICE constexpr operator unsigned() const { return kWidth; }
};
/// The bits of a digit, which are public: a divisor of kMostWidth, so that all digits together are not
/// longer than with kMostWidth.
template <unsigned kMostWidth>
struct WindowUpTo {
  static constexpr unsigned kMost = kMostWidth;
  unsigned width;
  MM_DEVICE constexpr operator unsigned() const { return width; }
};

/// The bits of a scalar, as a constant.
template <unsigned kLength>
struct FixedLength {
  MM_DEVICE constexpr operator unsigned() const { return kLength; }
};
/// The bits of a scalar, which are public, at most kBits of OddDigits.
struct ScalarLength {
  unsigned bits;
  MM_DEVICE constexpr operator unsigned() const { return bits; }
};

/// The digits of a scalar of at most kBits bits. Window, Length: classes above.
template <unsigned kBits, class Window, class Length = FixedLength<kBits>>
class OddDigits {
 public:
  /// On input: 0 <= k <= n < 2^length, n odd, (kBits + 31) / 32 words.
  MM_DEVICE OddDigits(const std::uint32_t* k, const std::uint32_t* n, Window window, Length length = {})
      : window_(window), length_(length) {
    even_ = manymod::cuda::opaque((k[0] & 1) - 1);
    // n - k = n + ~k + 1 where k is even, else k = 0 + k + 0.
    const std::uint32_t one = even_ & 1;
    std::uint32_t odd[kNumberWords];
    odd[0] = manymod::cuda::add_cc(k[0] ^ even_, one);
    MM_UNROLL
    for (unsigned j = 1; j < kNumberWords; ++j) odd[j] = manymod::cuda::addc_cc(k[j] ^ even_, 0);
    odd[0] = manymod::cuda::add_cc(odd[0], n[0] & even_);
    MM_UNROLL
    for (unsigned j = 1; j < kNumberWords; ++j) odd[j] = manymod::cuda::addc_cc(odd[j], n[j] & even_);
    const unsigned top_bit = total() - 1;
    // b = (k - 1) / 2 + 2^(total - 1), as k - 1 is even and below 2^total
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) {
      const std::uint32_t low = j < kNumberWords ? odd[j] : 0;
      const std::uint32_t high = j + 1 < kNumberWords ? odd[j + 1] : 0;
      const std::uint32_t top = j == top_bit / 32 ? 1u << (top_bit % 32) : 0;
      b_[j] = manymod::cuda::shift_right(low, high, 1) | top;
    }
  }

  [[nodiscard]] MM_DEVICE unsigned count() const { return window_count(length_, window_); }

  /// All ones if the result is to be negated.
  MM_DEVICE std::uint32_t negate() const { return even_; }

  /// The digits from the lowest up.
  MM_DEVICE OddDigit next_up() {
    const OddDigit digit = odd_digit(b_[0] & ((1u << window_) - 1), window_);
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) {
      b_[j] = manymod::cuda::shift_right(b_[j], j + 1 < kWords ? b_[j + 1] : 0, window_);
    }
    return digit;
  }

  /// To be called before next_down() if the scalar's length is a constant: moves the highest digit to the
  /// highest bits.
  MM_DEVICE void align_down() { shift_up(32 * kWords - total()); }
  /// The digits from the highest down.
  MM_DEVICE OddDigit next_down() {
    const OddDigit digit = odd_digit(b_[kWords - 1] >> (32 - window_), window_);
    shift_up(window_);
    return digit;
  }

 private:
  static constexpr unsigned kNumberWords = (kBits + 31) / 32;
  static constexpr unsigned kWords = (Window::kMost * window_count(kBits, Window::kMost) + 31) / 32;

  Window window_;
  Length length_;
  std::uint32_t b_[kWords];
  std::uint32_t even_;

  /// The bits of all digits.
  [[nodiscard]] MM_DEVICE unsigned total() const { return window_ * count(); }
  MM_DEVICE void shift_up(unsigned bits) {
    MM_UNROLL
    for (unsigned j = kWords - 1; j > 0; --j) b_[j] = manymod::cuda::shift_left(b_[j - 1], b_[j], bits);
    b_[0] <<= bits;
  }
};

}  // namespace manymod::ecc::cuda
