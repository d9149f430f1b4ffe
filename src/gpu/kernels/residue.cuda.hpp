// SPDX-License-Identifier: Apache-2.0
// a 2^z mod n by one thread, for a of any length: how operands that are wider than their modulus, and the
// powers of 2 that Montgomery form needs, become canonical. Long division with one digit of the quotient a
// step (Knuth, The Art of Computer Programming 2, 4.3.1 D). Digits of 31 bits, estimated in double precision,
// are at most one too small, and rarely that: remainders below (1 + 2^-9) n need no correction before the
// last one, so that a step is one pass over the words.
//
// Time and addresses depend on lengths alone.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::gpu {

/// 0 <= r < (1 + 2^-9) n, to which bits are appended.
class Residue {
 public:
  static constexpr unsigned kMostBits = 31;  ///< appended in one step

  /// `n`: `words` words, words even, one of the upper two not 0, n > 1. `copy`, `r`: `words` words of memory
  /// each.
  MM_DEVICE Residue(const WordSource& n, unsigned words, LaneMemory copy, LaneMemory r)
      : n_(copy), r_(r), words_(words) {
    for (unsigned j = 0; j < words_; ++j) n_[j] = n[j];
    inverse_ = reciprocal(top(n_, 0));
  }

  /// r = a, of at most words - 2 words: below n.
  MM_DEVICE void assign(const WordSource& a) {
    for (unsigned j = 0; j < words_; ++j) r_[j] = a[j];
  }

  /// r = 2^(32 (words - 2)): below n, which is odd and above 1.
  MM_DEVICE void assign_power() {
    for (unsigned j = 0; j < words_; ++j) r_[j] = static_cast<std::uint32_t>(j == words_ - 2);
  }

  /// r = 2^bits r + word modulo n, 1 <= bits <= kMostBits, word < 2^bits.
  MM_DEVICE void append(std::uint32_t word, unsigned bits) {
    Pass pass{quotient(word, bits), bits, 0, word, 0};
    const unsigned fours = words_ / 4 * 4;
    if (fours > 0) {
      Some<4> own = load<4>(r_, 0), n = load<4>(n_, 0);
      MM_ROLLED
      for (unsigned j = 0; j < fours; j += 4) {
        // Before the stores, which the compiler must not move loads across.
        const unsigned next = j + 4 < fours ? j + 4 : j;
        const Some<4> next_own = load<4>(r_, next), next_n = load<4>(n_, next);
        store(j, pass.less(own, n));
        own = next_own;
        n = next_n;
      }
    }
    if (fours < words_) store(fours, pass.less(load<2>(r_, fours), load<2>(n_, fours)));
    above_ = cuda::shift_left(pass.below, above_, bits) - pass.taken;
  }

  /// The residue in [0, n); n less it if `negate` and it is not 0.
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
  std::uint32_t above_ = 0;  // r's word above the others
  double inverse_ = 0;       // of n in units of 2^(32 (words - 4))

  /// Neighbouring words.
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

  /// Once through r from the low end, for 2^bits r + in - q n.
  struct Pass {
    std::uint32_t q;
    unsigned bits;
    std::uint32_t below;  // the word of r below those that come next
    std::uint32_t in;     // 0 after the first words
    std::uint32_t taken;  // from the words that come next

    // Of a number v of kCount words q v + taken <= (2^32 - 1) 2^(32 kCount), and where the part above is 2^32
    // - 1 the rest is 0: then nothing is borrowed.
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

  // 1 / x for 2^64 <= x <= 2^128, off by less than 2^-52 in proportion. The device's division branches on its
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

  // {above, x} in units of 2^(32 (words - 4)): of its upper words, of which 0 <= x - (these) < 1, by at most
  // four roundings.
  MM_DEVICE double top(const LaneMemory& x, std::uint32_t above) const {
    const auto pair = [&](unsigned j) { return static_cast<double>(std::uint64_t{x[j + 1]} << 32 | x[j]); };
    const double low = words_ > 2 ? pair(words_ - 4) : 0;
    return above * 0x1p128 + (pair(words_ - 2) * 0x1p64 + low);
  }

  // q = floor(y / n) for y = 2^bits r + word, or one less where y - q n then is below (1 + 2^-9) n.
  //
  // In these units n >= 2^64, and y / n < 2^31 (1 + 2^-9): what top() and, of more than two words, the
  // omitted word leave out is below 2^-32 of n. Ten roundings at most and the reciprocal's error are below
  // 2^-49 in proportion. So the estimate is off by less than 2^-17, and less 2^-10 it is below y / n by less
  // than 2^-9.
  MM_DEVICE std::uint32_t quotient(std::uint32_t word, unsigned bits) const {
    const double appended = words_ > 2 ? 0 : word * 0x1p64;
    const double y = top(r_, above_) * static_cast<double>(std::uint32_t{1} << bits) + appended;
    const double estimate = y * inverse_ - 0x1p-10;
    return static_cast<std::uint32_t>(estimate > 0 ? estimate : 0);
  }

  // r less n where that is not negative: below n.
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
