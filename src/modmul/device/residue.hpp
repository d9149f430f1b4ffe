// SPDX-License-Identifier: Apache-2.0
// a 2^z mod n by one thread, for a of any length: how operands that are wider than their modulus, and the
// powers of 2 that Montgomery form needs, become canonical. Long division with one 32-bit digit of the
// quotient a step (Knuth, The Art of Computer Programming 2, 4.3.1 D), the digit estimated in double
// precision.
//
// Time and addresses depend on lengths alone.
#pragma once

#include <cstdint>

#include "arch/cuda/words.hpp"
#include "modmul/device/multiplier.hpp"

namespace manymod::device {

/// r < n', to which words are appended: r = (2^32 r + word) mod n', with n' = n 2^shift, 2^(32 words - 1) <=
/// n' < 2^(32 words).
class Residue {
 public:
  /// `n`: `words` words, words even, one of the upper two not 0, n > 1. `scaled`, `r`: `words` words of
  /// memory each.
  MM_DEVICE Residue(const WordSource& n, unsigned words, LaneMemory scaled, LaneMemory r)
      : n_(scaled), r_(r), words_(words), shift_(leading_zeros(n[words - 1], n[words - 2])) {
    scale(n_, n);
    const std::uint64_t top = (std::uint64_t{n_[words_ - 1]} << 32) | n_[words_ - 2];
    inverse_ = reciprocal(static_cast<double>(top));
  }

  /// r = (2^bits r + word) mod n, 1 <= bits <= 32, word < 2^bits.
  MM_DEVICE void append(std::uint32_t word, unsigned bits) {
    std::uint32_t above = shift_in(word, bits);
    above = subtract_multiple(quotient(above, r_[words_ - 1], r_[words_ - 2], bits), above);
    above = subtract_if_not_below(above);
    subtract_if_not_below(above);
  }

  /// r / 2^shift, which is exact: a residue of n itself; n less it if `negate` and it is not 0.
  MM_DEVICE void store(WordSink result, const WordSource& n, bool negate) const {
    const bool whole_word = shift_ >= 32;
    const auto padded = [&](unsigned j) { return j < words_ ? r_[j] : 0; };
    const auto word = [&](unsigned j) {
      const std::uint32_t first = padded(j), second = padded(j + 1), third = padded(j + 2);
      return cuda::shift_right(whole_word ? second : first, whole_word ? third : second, shift_ % 32);
    };
    std::uint32_t any = 0;
    for (unsigned j = 0; j < words_; ++j) any |= r_[j];
    const std::uint32_t negated = 0 - static_cast<std::uint32_t>(negate && any != 0);
    std::uint32_t borrow = 0;
    for (unsigned j = 0; j < words_; ++j) {
      const std::uint32_t plain = word(j);
      const std::uint64_t difference = std::uint64_t{n[j]} - plain - borrow;
      borrow = static_cast<std::uint32_t>(difference >> 32) & 1;
      result.set(j, (plain & ~negated) | (static_cast<std::uint32_t>(difference) & negated));
    }
    for (unsigned j = words_; j < result.count; ++j) result.set(j, 0);
  }

  /// r = a, of at most words - 2 words: below n.
  MM_DEVICE void assign(const WordSource& a) { scale(r_, a); }

  /// r = 2^(32 (words - 2)): below n, which is odd and above 1.
  MM_DEVICE void assign_power() {
    const std::uint64_t one = std::uint64_t{1} << shift_;
    for (unsigned j = 0; j < words_; ++j) r_[j] = 0;
    r_[words_ - 2] = static_cast<std::uint32_t>(one);
    r_[words_ - 1] = static_cast<std::uint32_t>(one >> 32);
  }

 private:
  LaneMemory n_, r_;
  unsigned words_, shift_;
  double inverse_;  // of the upper two words of n'

  // 1 / x for 2^63 <= x <= 2^64, off by less than 2^-52 in proportion. The device's division branches on its
  // operands, for those out of the common range. Its estimate is off by less than 2^-16, which becomes 2^-48
  // and 2^-96, roundings apart.
  MM_DEVICE static double reciprocal(double x) {
#if defined(__CUDA_ARCH__)
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    const double error = __fma_rn(-x, r, 1.0);
    r = __fma_rn(__fma_rn(error, error, error), r, r);
    return __fma_rn(__fma_rn(-x, r, 1.0), r, r);
#else
    return 1.0 / x;
#endif
  }

  MM_DEVICE static unsigned leading_zeros(std::uint32_t high, std::uint32_t low) {
    std::uint64_t rest = (std::uint64_t{high} << 32) | low;
    unsigned zeros = 0;
    for (unsigned step = 32; step > 0; step /= 2) {
      const bool clear = (rest >> (64 - step)) == 0;
      zeros += clear ? step : 0;
      rest <<= clear ? step : 0;
    }
    return zeros;
  }

  // r = a 2^shift
  MM_DEVICE void scale(const LaneMemory& r, const WordSource& a) const {
    const bool whole_word = shift_ >= 32;
    std::uint32_t below = 0, below_that = 0;
    for (unsigned j = 0; j < words_; ++j) {
      const std::uint32_t word = a[j];
      r[j] = whole_word ? cuda::shift_left(below_that, below, shift_ % 32)
                        : cuda::shift_left(below, word, shift_ % 32);
      below_that = below;
      below = word;
    }
  }

  // The appended word counts 2^shift times as well.
  MM_DEVICE std::uint32_t appended(std::uint32_t word, unsigned place) const {
    const std::uint64_t scaled_low = std::uint64_t{word} << (shift_ % 32);
    const unsigned by_words = shift_ / 32;
    const std::uint32_t low = place == by_words ? static_cast<std::uint32_t>(scaled_low) : 0;
    return place == by_words + 1 ? static_cast<std::uint32_t>(scaled_low >> 32) : low;
  }

  // r = y = 2^bits r + 2^shift word. @return what stands above the words
  MM_DEVICE std::uint32_t shift_in(std::uint32_t word, unsigned bits) {
    std::uint32_t below = 0, carry = 0;
    for (unsigned j = 0; j < words_; ++j) {
      const std::uint32_t own = r_[j];
      const std::uint64_t y =
          std::uint64_t{shifted(below, own, bits)} + (j < 3 ? appended(word, j) : 0) + carry;
      carry = static_cast<std::uint32_t>(y >> 32);
      r_[j] = static_cast<std::uint32_t>(y);
      below = own;
    }
    return shifted(below, 0, bits) + carry + (words_ == 2 ? appended(word, 2) : 0);
  }

  // r -= q n'. @return what then stands above the words
  MM_DEVICE std::uint32_t subtract_multiple(std::uint32_t q, std::uint32_t above) {
    std::uint32_t product_high = 0, borrow = 0;
    for (unsigned j = 0; j < words_; ++j) {
      const std::uint64_t product = std::uint64_t{q} * n_[j] + product_high;
      product_high = static_cast<std::uint32_t>(product >> 32);
      const std::uint64_t difference = std::uint64_t{r_[j]} - (product & 0xffffffffu) - borrow;
      borrow = static_cast<std::uint32_t>(difference >> 32) & 1;
      r_[j] = static_cast<std::uint32_t>(difference);
    }
    return above - product_high - borrow;
  }

  // Word of 2^bits {high, low} that stands where `high` stood.
  MM_DEVICE static std::uint32_t shifted(std::uint32_t low, std::uint32_t high, unsigned bits) {
    return bits == 32 ? low : cuda::shift_left(low, high, bits);
  }

  // From the upper 96 bits of y and the upper 64 of n': each of these is off by less than 2^-62 in
  // proportion, and four roundings to 53 bits follow and the reciprocal's 2^-52, so that the estimate, below
  // 2^32 + 1, is off by less than 2^-17. Less one, it is the quotient or one or two below it, and
  // y - q n' < 3 n'.
  MM_DEVICE std::uint32_t quotient(std::uint32_t y2, std::uint32_t y1, std::uint32_t y0,
                                   unsigned bits) const {
    const double y = static_cast<double>(y2) * 0x1p64 + (static_cast<double>(y1) * 0x1p32 + y0);
    const double estimate = y * inverse_;
    const auto whole = static_cast<std::uint64_t>(estimate);
    const std::uint64_t most = (std::uint64_t{1} << bits) - 1;
    const std::uint64_t less = whole - static_cast<std::uint64_t>(whole != 0);
    return static_cast<std::uint32_t>(less < most ? less : most);
  }

  // {above, r} less n' where that is not negative. @return what then stands above the words
  MM_DEVICE std::uint32_t subtract_if_not_below(std::uint32_t above) {
    std::uint32_t borrow = 0;
    for (unsigned j = 0; j < words_; ++j) {
      borrow = static_cast<std::uint32_t>((std::uint64_t{r_[j]} - n_[j] - borrow) >> 32) & 1;
    }
    const std::uint32_t mask = 0 - static_cast<std::uint32_t>(above >= borrow);
    std::uint32_t taken = 0;
    for (unsigned j = 0; j < words_; ++j) {
      const std::uint64_t difference = std::uint64_t{r_[j]} - (n_[j] & mask) - taken;
      taken = static_cast<std::uint32_t>(difference >> 32) & 1;
      r_[j] = static_cast<std::uint32_t>(difference);
    }
    return above - taken;
  }
};

}  // namespace manymod::device
