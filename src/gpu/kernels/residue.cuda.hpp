// SPDX-License-Identifier: Apache-2.0
// a 2^z mod n by one thread, for a of any length. Reduces operands that are wider than their modulus, and the
// powers of 2 that Montgomery form needs.
//
// Long division with one digit of the quotient per step (Knuth, The Art of Computer Programming 2, 4.3.1 D).
// The digits have 31 bits and are estimated in double precision; an estimate is exact or, rarely, too small
// by one. Remainders stay below (1 + 2^-9) n, so that only the last one is corrected and a step is one pass
// over the words.
//
// Timing: constant; time and addresses depend on lengths only.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::gpu {

/// A remainder r, 0 <= r < (1 + 2^-9) n, to which bits are appended.
class Residue {
 public:
  static constexpr unsigned kMostBits = 31;  ///< most bits that one step appends

  /// On input: n > 1 of `words` words, words even, one of the upper two nonzero. `copy`, `r`: `words` words
  /// of memory each.
  MM_DEVICE Residue(const WordSource& n, unsigned words, LaneMemory copy, LaneMemory r)
      : n_(copy), r_(r), words_(words) {
    for (unsigned j = 0; j < words_; ++j) n_[j] = n[j];
    inverse_ = reciprocal(top(n_, 0));
  }

  /// r = a. On input: a has at most words - 2 words, so that a < n.
  MM_DEVICE void assign(const WordSource& a) {
    for (unsigned j = 0; j < words_; ++j) r_[j] = a[j];
  }

  /// r = 2^(32 (words - 2)), which is below n. On input: n is odd.
  MM_DEVICE void assign_power() {
    for (unsigned j = 0; j < words_; ++j) r_[j] = static_cast<std::uint32_t>(j == words_ - 2);
  }

  /// r = 2^bits r + word modulo n. On input: 1 <= bits <= kMostBits, word < 2^bits.
  MM_DEVICE void append(std::uint32_t word, unsigned bits) {
    Pass pass{quotient(word, bits), bits, 0, word, 0};
    const unsigned quads_end = words_ / 4 * 4;
    if (quads_end > 0) {
      Some<4> own = load<4>(r_, 0), n = load<4>(n_, 0);
      MM_ROLLED
      for (unsigned j = 0; j < quads_end; j += 4) {
        // Prefetched before the stores, across which the compiler may not move loads.
        const unsigned next = j + 4 < quads_end ? j + 4 : j;
        const Some<4> next_own = load<4>(r_, next), next_n = load<4>(n_, next);
        store(j, pass.less(own, n));
        own = next_own;
        n = next_n;
      }
    }
    if (quads_end < words_) store(quads_end, pass.less(load<2>(r_, quads_end), load<2>(n_, quads_end)));
    above_ = cuda::shift_left(pass.below, above_, bits) - pass.taken;
  }

  /// result = r mod n in [0, n), or -r mod n if `negate`.
  MM_DEVICE void store(WordSink result, const WordSource& n, bool negate) {
    subtract_if_not_below();
    std::uint32_t any = 0;
    for (unsigned j = 0; j < words_; ++j) any |= r_[j];
    const std::uint32_t negated = 0 - static_cast<std::uint32_t>(negate && any != 0);
    std::uint32_t borrow = 0;
    for (unsigned j = 0; j < words_; ++j) {
      const std::uint32_t plain = r_[j];
      const std::uint64_t difference = std::uint64_t{n[j]} - plain - borrow;
      borrow = static_cast<std::uint32_t>(difference >> 32) & 1;
      result.set(j, (plain & ~negated) | (static_cast<std::uint32_t>(difference) & negated));
    }
    for (unsigned j = words_; j < result.count; ++j) result.set(j, 0);
  }

 private:
  LaneMemory n_, r_;
  unsigned words_;
  std::uint32_t above_ = 0;  // word `words_` of r
  double inverse_ = 0;       // 1 / n, n in units of 2^(32 (words - 4))

  /// kCount consecutive words.
  template <unsigned kCount>
  struct Some {
    std::uint32_t word[kCount];
  };
  template <unsigned kCount>
  MM_DEVICE static Some<kCount> load(const LaneMemory& x, unsigned j) {
    Some<kCount> words;
    MM_UNROLL
    for (unsigned i = 0; i < kCount; ++i) words.word[i] = x[j + i];
    return words;
  }
  template <unsigned kCount>
  MM_DEVICE void store(unsigned j, const Some<kCount>& words) const {
    MM_UNROLL
    for (unsigned i = 0; i < kCount; ++i) r_[j + i] = words.word[i];
  }

  /// One pass over r from the low end, which computes 2^bits r + in - q n.
  struct Pass {
    std::uint32_t q;
    unsigned bits;
    std::uint32_t below;  // the word of r below the next words
    std::uint32_t in;     // 0 after the first words
    std::uint32_t taken;  // borrow from the next words

    // The new `taken` fits a word: for a number v of kCount words q v + taken <= (2^32 - 1) 2^(32 kCount), so
    // if the word above the kCount words is 2^32 - 1 the others are 0 and the subtraction borrows nothing.
    template <unsigned kCount>
    MM_DEVICE Some<kCount> less(const Some<kCount>& own, const Some<kCount>& n) {
      Some<kCount> low, high, y;
      MM_UNROLL
      for (unsigned i = 0; i < kCount; ++i) {
        const std::uint64_t product = std::uint64_t{q} * n.word[i];
        low.word[i] = static_cast<std::uint32_t>(product);
        high.word[i] = static_cast<std::uint32_t>(product >> 32);
        y.word[i] = cuda::shift_left(i == 0 ? below : own.word[i - 1], own.word[i], bits);
      }
      y.word[0] |= in;
      low.word[0] = cuda::add_cc(low.word[0], taken);
      MM_UNROLL
      for (unsigned i = 1; i < kCount; ++i) low.word[i] = cuda::addc_cc(low.word[i], high.word[i - 1]);
      taken = cuda::addc(high.word[kCount - 1], 0);
      y.word[0] = cuda::sub_cc(y.word[0], low.word[0]);
      MM_UNROLL
      for (unsigned i = 1; i < kCount; ++i) y.word[i] = cuda::subc_cc(y.word[i], low.word[i]);
      taken -= cuda::subc(0, 0);
      below = own.word[kCount - 1];
      in = 0;
      return y;
    }
  };

  // 1 / x for 2^64 <= x <= 2^128, with a relative error below 2^-52. The device's division would branch on
  // its operands. The relative error of rcp.approx is below 2^-16; the two iterations make it 2^-48 and
  // 2^-96, plus rounding errors.
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

  // The upper words of {above, x} in units of 2^(32 (words - 4)). The omitted words are worth at least 0 and
  // less than 1; at most four roundings.
  MM_DEVICE double top(const LaneMemory& x, std::uint32_t above) const {
    const auto pair = [&](unsigned j) { return static_cast<double>(std::uint64_t{x[j + 1]} << 32 | x[j]); };
    const double low = words_ > 2 ? pair(words_ - 4) : 0;
    return above * 0x1p128 + (pair(words_ - 2) * 0x1p64 + low);
  }

  // For y = 2^bits r + word: q = floor(y / n), or one less if then y - q n < (1 + 2^-9) n.
  //
  // In these units n >= 2^64, and y / n < 2^31 (1 + 2^-9). The part that top() omits, and the word if n has
  // more than two words, are together less than 2^-32 n. At most ten roundings and the reciprocal's error
  // have together a relative error below 2^-49. So the estimate of y / n has an absolute error below 2^-17;
  // after subtracting 2^-10 it is below y / n, by less than 2^-9.
  MM_DEVICE std::uint32_t quotient(std::uint32_t word, unsigned bits) const {
    const double appended = words_ > 2 ? 0 : word * 0x1p64;
    const double y = top(r_, above_) * static_cast<double>(std::uint32_t{1} << bits) + appended;
    const double estimate = y * inverse_ - 0x1p-10;
    return static_cast<std::uint32_t>(estimate > 0 ? estimate : 0);
  }

  // r = r - n if r >= n; on output r < n.
  MM_DEVICE void subtract_if_not_below() {
    std::uint32_t borrow = 0;
    for (unsigned j = 0; j < words_; ++j) {
      borrow = static_cast<std::uint32_t>((std::uint64_t{r_[j]} - n_[j] - borrow) >> 32) & 1;
    }
    const std::uint32_t mask = 0 - static_cast<std::uint32_t>(above_ >= borrow);
    std::uint32_t taken = 0;
    for (unsigned j = 0; j < words_; ++j) {
      const std::uint64_t difference = std::uint64_t{r_[j]} - (n_[j] & mask) - taken;
      taken = static_cast<std::uint32_t>(difference >> 32) & 1;
      r_[j] = static_cast<std::uint32_t>(difference);
    }
  }
};

}  // namespace manymod::gpu
