// SPDX-License-Identifier: Apache-2.0
// Technique division32: residues modulo any n, odd or even, by folding and long division.
//
// W words hold a number. The divisor is N = n 2^shift with its top bit at bit 32 W - 1, so that a residue
// modulo N is one modulo n, and (a 2^shift mod N) / 2^shift = a mod n.
//
// Folding. The upper W + 3 words of a product of 2 W words are extended by one word after another: T = 2^32 r
// + word, in which t 2^(32 (W + 3)) for the top word t is replaced by t F, F = 2^(32 (W + 3)) mod N. As t F <
// 2^(32 (W + 1)), the next r is less than 2^(32 (W + 3)) but for a carry, which is rare. t needs no estimate
// and no multiplication by a reciprocal, and because of the three words it is known before the row that comes
// before its own is complete. So rows overlap.
//
// Long division with lazy quotient digits then takes W + 3 words to less than N. A remainder r is extended by
// e bits at a time: with T = 2^e r + digit, r becomes T - q N for a lower estimate q of T / N. No estimate is
// ever corrected: r stays below 4 N, and at the end two conditional subtractions make it less than N.
//
// The estimate. With v = N's reciprocal, 0 <= 2^(32 W + 31) / N - v < 2 and v < 2^32, let
//   u = floor(T / 2^(32 W - 1)),  q = floor(u v / 2^32).
// For r < 4 N and e <= 29, T < 2^(32 W + 31), so u < 2^32. As N >= 2^(32 W - 1), T / N is less than
// u 2^(32 W - 1) / N + 1 < u (v + 2) / 2^32 + 1 < q + 1 + 2 u / 2^32 + 1 <= q + 4: r stays below 4 N.
// For e <= 28, u < 2^31, and the new r is below 3 N. The last digit has at most 28 bits. The three lower
// words are appended, and then `shift` zero bits.
//
// T - q N = T + q M - q 2^(32 W) with M = 2^(32 W) - N, so that a row is one carry chain of additions.
//
// Cost: W^2 wide products of words for the product, W (W - 3) for folding and at least 4 W for the division,
// as much as one Montgomery multiplication; but the residue needs no second one.
//
// In a group of lanes, what leaves the words of a lane during a row is added to the lane above in the next
// row. In a division the lanes' words then are a number less than r by up to 2^(32 (W - kPerThread) + 33),
// and r's top part can be -1; u is 0 in this case. A smaller u makes q at most one unit of u smaller, which
// is below 2^-60 N: the bound on T / N - q above is not reached within it.
//
// Timing: constant, except for the number of rows, which depends on n's length, and for rare carries.
#pragma once

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/wide.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/division32/lane_numbers.cuda.hpp"
#include "modmul/row32/accumulator.cuda.hpp"
#include "repr/lane_words.cuda.hpp"

namespace manymod::division32 {

inline constexpr unsigned kDigitBits = 29;
inline constexpr unsigned kLastDigitBits = 28;
inline constexpr unsigned kFolded = 3;  ///< words above W of a number that is being folded

/// v for the top two words of N. On input: `high` >= 2^31. With m = floor(N / 2^(32 W - 33)) the result is
/// floor((2^64 - 1) / (m + 1)): above 2^64 / m - 2 for m >= 2^32, and at most 2^(32 W + 31) / N.
MM_DEVICE std::uint32_t reciprocal_of(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t top = (std::uint64_t{high} << 32 | low) >> 31;
  return static_cast<std::uint32_t>(~std::uint64_t{0} / (top + 1));
}

/// The high word of a b.
MM_DEVICE std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
}

/// The low word of {hi, lo} << bits, 0 <= bits < 32, is lo << bits; this is the part that leaves it.
struct Shifted {
  std::uint32_t low, high;
};
MM_DEVICE Shifted shifted(std::uint32_t word, unsigned bits) {
  return {word << bits, cuda::shift_left(word, 0, bits)};
}

/// All lanes of a group call each function together, and all groups of a warp.
template <class Group, unsigned kPerThread>
class Division : public LaneNumbers<Group, kPerThread> {
  using Numbers = LaneNumbers<Group, kPerThread>;
  using Numbers::from_below, Numbers::is_bottom, Numbers::is_top, Numbers::group_, Numbers::memory_;

 public:
  using Numbers::kLanes, Numbers::kWords;
  using typename Numbers::Number;
  static_assert(kPerThread >= 4 && kPerThread % 4 == 0);

  struct Divisor {
    Number minus;  ///< M = 2^(32 W) - N
    std::uint32_t reciprocal = 0;
    std::uint32_t shift = 0;
  };

  /// `memory`: kWords words that belong to this group.
  MM_DEVICE Division(const Group& group, LaneMemory memory) : Numbers(group, memory) {}

  /// A sum of numbers: the words of its sum in this lane, and what leaves them.
  struct Sum {
    Number low = {};
    std::uint32_t over = 0;
  };
  /// A sum of products: in each lane words of the lower W and of the upper ones, and what leaves the latter.
  struct ProductSum {
    Number lower = {}, upper = {};
    std::uint32_t over = 0;
  };

  /// The divisor of n, whose bit length is `bits` > 0.
  MM_DEVICE Divisor divisor_of(const Number& n, std::uint32_t bits) const {
    Divisor d;
    d.shift = 32 * kWords - bits;
    const Number normal = this->shifted_left(n, d.shift);
    Number zero = {};
    lane_words::subtract_masked<kPerThread>(group_, d.minus.word, zero.word, normal.word, 0xffffffffu);
    d.reciprocal = group_.shuffle(
        reciprocal_of(normal.word[kPerThread - 1] | 1u << 31, normal.word[kPerThread - 2]), kLanes - 1);
    return d;
  }

  /// F = 2^(32 (W + kFolded)) mod N.
  MM_DEVICE Number fold_of(const Divisor& n) const {
    const std::uint32_t zeros[kFolded] = {};
    return below_divisor(extended({n.minus, 0}, zeros, 32 * kFolded, n), n);
  }

  /// a b + c mod n. On input: a, b, c < 2^(32 W), so that a b + c < 2^(64 W); `fold`: F, or any number below
  /// 2^(32 W) that equals it modulo n.
  MM_DEVICE Number product(const Number& a, const Number& b, const Number& c, const Number& fold,
                           const Divisor& n) const {
    Halves p = halves(a, b, c);
    lane_words::resolve_carries<kPerThread>(group_, p.upper.word, p.over);
    return folded_residue<kFolded>(p, 0, fold, n);
  }

  /// sum += a b. A product adds at most 3 to `over`, so that 2^30 of them leave it below 2^32.
  MM_DEVICE void add_product(ProductSum& sum, const Number& a, const Number& b) const {
    const Halves p = halves(a, b, sum.lower);
    if constexpr (kLanes == 1) {
      MM_UNROLL
      for (unsigned j = 0; j < kPerThread; ++j) sum.lower.word[j] = p.below[j];
    } else {
      sum.lower = this->remembered();
    }
    sum.over = added(sum.upper, sum.over, p.upper, p.over);
  }

  /// sum += a. Of up to 2^32 numbers `over` is below 2^32.
  MM_DEVICE void add(Sum& sum, const Number& a) const { sum.over = added(sum.low, sum.over, a, 0); }

  /// sum mod n, for `fold` as in product(): of the 2 W + 1 words of the sum the upper W + 3 are folded with
  /// the others, one more than those of a product.
  MM_DEVICE Number residue(const ProductSum& sum, const Number& fold, const Divisor& n) const {
    Halves p;
    p.upper = sum.upper;
    const std::uint32_t over = lane_words::resolve_carries<kPerThread>(group_, p.upper.word, sum.over);
    if constexpr (kLanes == 1) {
      MM_UNROLL
      for (unsigned j = 0; j < kPerThread; ++j) p.below[j] = sum.lower.word[j];
    } else {
      group_.sync();
      this->remember(sum.lower);
      group_.sync();
    }
    return folded_residue<kFolded - 1>(p, over, fold, n);
  }

  /// sum mod n: the upper W of its W + 1 words, below 2 N, are extended by the other.
  MM_DEVICE Number residue(const Sum& sum, const Divisor& n) const {
    Number words = sum.low;
    const std::uint32_t over = lane_words::resolve_carries<kPerThread>(group_, words.word, sum.over);
    const std::uint32_t above = group_.from_above(words.word[0]);
    Remainder r;
    MM_UNROLL
    for (unsigned j = 0; j + 1 < kPerThread; ++j) r.low.word[j] = words.word[j + 1];
    r.low.word[kPerThread - 1] = is_top() ? over : above;
    const std::uint32_t low[kFolded] = {0, 0, words.word[0]};
    return quotient_by_shift(extended(r, low, 32 + n.shift, n), n);
  }

  /// a mod n. On input: a < 2^(32 W).
  MM_DEVICE Number residue(const Number& a, const Divisor& n) const {
    const std::uint32_t zeros[kFolded] = {};
    return quotient_by_shift(extended({a, 0}, zeros, n.shift, n), n);
  }

 private:
  /// The words of the remainder in this lane, and the number above them: of the top lane's words, or to be
  /// added to the lane above.
  struct Remainder {
    Number low;
    std::uint32_t over = 0;
  };

  /// A number of W + kFolded words. In the top lane {high, low} is the number above its words, and words W +
  /// 1 and W + 2 are `upper` besides. In the others it is to be added to the lane above.
  struct Folded {
    Number number;
    std::uint32_t low = 0, high = 0;
    std::uint32_t upper[2] = {};
  };

  /// A number of 2 W words: the upper ones in the lanes, with what leaves the words of each, and the lower
  /// ones, which groups of several lanes remember in memory.
  struct Halves {
    Number upper;
    std::uint32_t over = 0;
    std::uint32_t below[kLanes == 1 ? kPerThread : 1];
  };

  /// number += a, with what leaves a lane's words; @return over + a_over and the carry.
  MM_DEVICE static std::uint32_t added(Number& number, std::uint32_t over, const Number& a,
                                       std::uint32_t a_over) {
    number.word[0] = cuda::add_cc(number.word[0], a.word[0]);
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; ++j) number.word[j] = cuda::addc_cc(number.word[j], a.word[j]);
    return cuda::addc(over, a_over);
  }

  /// a b + c.
  MM_DEVICE Halves halves(const Number& a, const Number& b, const Number& c) const {
    row32::Accumulator<kPerThread> s;
    s.top = 0;
    Halves p;
    if constexpr (kLanes == 1) {
      MM_UNROLL
      for (unsigned j = 0; j < kPerThread; ++j) {
        s.even[j] = c.word[j];
        s.odd[j] = 0;
      }
      row32::add_row(s, a.word, b.word[0]);
      p.below[0] = s.even[0];
      MM_UNROLL
      for (unsigned i = 1; i < kPerThread; ++i) {
        row32::shift_and_add_row(s, 0, a.word, b.word[i]);
        p.below[i] = s.even[0];
      }
      p.over = row32::shift_and_merge(p.upper.word, s, 0);
    } else {
      // 2^32 c, which the first row shifts.
      MM_UNROLL
      for (unsigned j = 0; j < kPerThread; ++j) {
        s.even[j] = 0;
        s.odd[j] = c.word[j];
      }
      group_.sync();
      const bool is_last = cuda::opaque(is_top() ? 1 : 0) != 0;  // kept, not computed anew in each row
      std::uint32_t incoming = 0;
      MM_ROLLED
      for (unsigned source = 0; source < kLanes; ++source) {
        MM_UNROLL
        for (unsigned i = 0; i < kPerThread; ++i) {
          row32::shift_and_add_row(s, incoming, a.word, group_.shuffle(b.word[i], source));
          // The top lane gets the word of lane 0, which is final.
          const std::uint32_t above = group_.from_above(s.even[0]);
          if (is_last) memory_[source * kPerThread + i] = above;
          incoming = is_last ? 0 : above;
        }
      }
      p.over = row32::shift_and_merge(p.upper.word, s, incoming);
      group_.sync();
    }
    return p;
  }

  /// p + over 2^(64 W) modulo n. On input: p.over is resolved; over = 0 where kLower = kFolded, else kLower =
  /// kFolded - 1. kLower words of the lower half are among those that the folding starts with.
  template <unsigned kLower>
  MM_DEVICE Number folded_residue(const Halves& p, std::uint32_t over, const Number& fold,
                                  const Divisor& n) const {
    Folded r = upper_words<kLower>(p, over);
    const unsigned words = kWords - kLower;
    if constexpr (kLanes == 1) {
      MM_UNROLL
      for (unsigned i = 1; i <= words; ++i) add_folded(r, p.below[words - i], fold);
    } else {
      MM_ROLLED
      for (unsigned i = 1; i <= words; ++i) add_folded(r, memory_[words - i], fold);
    }
    std::uint32_t low[kFolded];
    const Remainder upper = settled(r, low);
    return quotient_by_shift(extended(upper, low, 32 * kFolded + n.shift, n), n);
  }

  /// The upper W + kFolded words: kLower of the lower half, the upper half, and `over`.
  template <unsigned kLower>
  MM_DEVICE Folded upper_words(const Halves& p, std::uint32_t over) const {
    constexpr unsigned kFirst = kPerThread - kLower;
    Folded r;
    std::uint32_t top[kFolded];
    top[kFolded - 1] = over;
    MM_UNROLL
    for (unsigned j = 0; j < kLower; ++j) {
      const std::uint32_t below = group_.from_below(p.upper.word[kFirst + j]);
      std::uint32_t lower = 0;
      if constexpr (kLanes == 1) {
        lower = p.below[kFirst + j];
      } else {
        lower = memory_[kWords - kLower + j];
      }
      r.number.word[j] = is_bottom() ? lower : below;
      top[j] = p.upper.word[kFirst + j];
    }
    MM_UNROLL
    for (unsigned j = kLower; j < kPerThread; ++j) r.number.word[j] = p.upper.word[j - kLower];
    r.low = is_top() ? top[0] : 0;
    r.upper[0] = top[1];
    r.upper[1] = top[2];
    return r;
  }

  /// r = 2^32 r + word modulo N, with t F in place of t 2^(32 (W + kFolded)).
  ///
  /// The top word t is complete before the row, as the carry out of the top lane's words only reaches the
  /// word below it. A carry out of the number counts as another F, which is rare: the number is then less
  /// than 2^(32 (W + kFolded)) + 2^(32 (W + 1)).
  MM_DEVICE void add_folded(Folded& r, std::uint32_t word, const Number& fold) const {
    const std::uint32_t t = group_.shuffle(r.upper[1], kLanes - 1);
    const std::uint32_t below_low = from_below(r.low), below_high = from_below(r.high);
    r.upper[1] = r.upper[0] + r.high;
    const bool carries = is_top() && r.upper[1] < r.high;
    r.upper[0] = r.low;
    std::uint32_t sum[kPerThread], odd[kPerThread];
    sum[0] = is_bottom() ? word : 0;
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; ++j) sum[j] = r.number.word[j - 1];
    odd_products(odd, fold, t, below_low, below_high);
    row32::add_products<kPerThread>(sum, 0, 0, fold.word, t);
    r.low = cuda::addc_cc(r.number.word[kPerThread - 1], 0);
    r.high = cuda::addc(0, 0);
    sum[1] = cuda::add_cc(sum[1], odd[0]);
    MM_UNROLL
    for (unsigned j = 2; j < kPerThread; ++j) sum[j] = cuda::addc_cc(sum[j], odd[j - 1]);
    r.low = cuda::addc_cc(r.low, odd[kPerThread - 1]);
    r.high = cuda::addc(r.high, 0);
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.number.word[j] = sum[j];
    if (group_.any_in_warp(carries)) add_fold_once(r, group_.shuffle(carries ? 1u : 0u, kLanes - 1), fold);
  }

  /// odd[j - 1], odd[j] = factor[j] t for odd j, with {high, low} added at odd[0].
  MM_DEVICE static void odd_products(std::uint32_t* odd, const Number& factor, std::uint32_t t,
                                     std::uint32_t low, std::uint32_t high) {
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; j += 2) {
      if (kLanes > 1 && j == 1) {
        cuda::mad_wide_cc(odd[0], odd[1], factor.word[1], t, low, high);
        continue;
      }
      const cuda::Wide product = cuda::multiply_whole(factor.word[j], t);
      odd[j - 1] = product.lo;
      odd[j] = product.hi;
    }
  }

  /// r += times F, times 0 or 1.
  MM_DEVICE void add_fold_once(Folded& r, std::uint32_t times, const Number& fold) const {
    std::uint32_t* const word = r.number.word;
    word[0] = cuda::add_cc(word[0], fold.word[0] & (0 - times));
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; ++j) word[j] = cuda::addc_cc(word[j], fold.word[j] & (0 - times));
    r.low = cuda::addc_cc(r.low, 0);
    r.high = cuda::addc(r.high, 0);
  }

  /// Words kFolded and above, W of them and their overflow; low: the others, in lane 0.
  MM_DEVICE Remainder settled(Folded& r, std::uint32_t* low) const {
    std::uint32_t carry = 0;
    std::uint32_t* const word = r.number.word;
    if constexpr (kLanes > 1) {
      const std::uint32_t below_low = from_below(r.low), below_high = from_below(r.high);
      word[0] = cuda::add_cc(word[0], below_low);
      word[1] = cuda::addc_cc(word[1], below_high);
      MM_UNROLL
      for (unsigned j = 2; j < kPerThread; ++j) word[j] = cuda::addc_cc(word[j], 0);
      carry = cuda::addc(0, 0);
      std::uint32_t ones = word[0];
      MM_UNROLL
      for (unsigned j = 1; j < kPerThread; ++j) ones &= word[j];
      const std::uint64_t carries =
          cuda::lane_carries(group_.ballot(carry != 0), group_.ballot(ones == 0xffffffffu));
      lane_words::add_word<kPerThread>(word, static_cast<std::uint32_t>(carries >> group_.lane()) & 1);
      carry = static_cast<std::uint32_t>(carries >> kLanes);
    }
    std::uint32_t above[kFolded + 1];
    above[0] = cuda::add_cc(r.low, carry);
    above[1] = cuda::addc_cc(r.upper[0], r.high);
    above[2] = cuda::addc_cc(r.upper[1], 0);
    above[3] = cuda::addc(0, 0);
    Remainder upper;
    MM_UNROLL
    for (unsigned j = kFolded; j < kPerThread; ++j) upper.low.word[j - kFolded] = word[j];
    MM_UNROLL
    for (unsigned j = 0; j < kFolded; ++j) {
      low[j] = word[j];
      const std::uint32_t next = group_.from_above(word[j]);
      upper.low.word[kPerThread - kFolded + j] = is_top() ? above[j] : next;
    }
    upper.over = is_top() ? above[kFolded] : 0;
    return upper;
  }

  /// r extended by `left` bits, those of `low` from the top down and then zeros. On input: r < 4 N. On
  /// output: r < 3 N.
  MM_DEVICE Remainder extended(Remainder r, const std::uint32_t* low, std::uint32_t left,
                               const Divisor& n) const {
    std::uint32_t next[kFolded];
    MM_UNROLL
    for (unsigned j = 0; j < kFolded; ++j) next[j] = low[j];
    MM_ROLLED
    while (group_.any_in_warp(left > 0)) {
      // For bits = 0 this changes r by a multiple of N only.
      const unsigned bits = left > 2 * kLastDigitBits ? kDigitBits
                            : left > kLastDigitBits   ? kLastDigitBits
                                                      : left;
      append(r, cuda::shift_left(next[kFolded - 1], 0, bits), bits, n);
      MM_UNROLL
      for (unsigned j = kFolded - 1; j > 0; --j) next[j] = cuda::shift_left(next[j - 1], next[j], bits);
      next[0] <<= bits;
      left -= bits;
    }
    return r;
  }

  /// r = 2^bits r + digit - q N. On input: r < 4 N, bits <= kDigitBits, digit < 2^bits in lane 0.
  MM_DEVICE void append(Remainder& r, std::uint32_t digit, unsigned bits, const Divisor& n) const {
    constexpr unsigned kTop = kPerThread - 1;
    const std::uint32_t over = is_top() ? r.over : 0;
    std::uint32_t u = cuda::shift_right(r.low.word[kTop], over, 31 - bits);
    if constexpr (kLanes > 1) u = over >> 31 != 0 ? 0 : u;
    const std::uint32_t q = group_.shuffle(multiply_high(u, n.reciprocal), kLanes - 1);
    const Shifted pending = shifted(from_below(r.over), bits);
    std::uint32_t t[kPerThread], odd[kPerThread];
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; ++j) {
      t[j] = cuda::shift_left(r.low.word[j - 1], r.low.word[j], bits);
    }
    t[0] = r.low.word[0] << bits | (is_bottom() ? digit : 0);
    std::uint32_t out = cuda::shift_left(r.low.word[kTop], over, bits);
    odd_products(odd, n.minus, q, pending.high, 0);
    row32::add_products<kPerThread>(t, 0, 0, n.minus.word, q);
    out = cuda::addc(out, 0);
    if constexpr (kLanes > 1) {
      t[0] = cuda::add_cc(t[0], pending.low);
      t[1] = cuda::addc_cc(t[1], odd[0]);
    } else {
      t[1] = cuda::add_cc(t[1], odd[0]);
    }
    MM_UNROLL
    for (unsigned j = 2; j < kPerThread; ++j) t[j] = cuda::addc_cc(t[j], odd[j - 1]);
    out = cuda::addc(out, odd[kTop]);
    r.over = out - (is_top() ? q : 0);
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.low.word[j] = t[j];
  }

  /// (r mod N) / 2^shift. On input: r < 3 N, r = 0 mod 2^shift.
  MM_DEVICE Number quotient_by_shift(const Remainder& r, const Divisor& n) const {
    return this->shifted_right(below_divisor(r, n), n.shift);
  }

  /// r mod N. On input: r < 3 N.
  MM_DEVICE Number below_divisor(Remainder r, const Divisor& n) const {
    std::uint32_t over = lane_words::resolve_carries<kPerThread>(group_, r.low.word, r.over);
    MM_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      Number less;
      // r - N = r + M - 2^(32 W)
      const std::uint32_t carry =
          lane_words::add_masked<kPerThread>(group_, less.word, r.low.word, n.minus.word, 0xffffffffu);
      const bool subtract = (over + carry) != 0;
      over = subtract ? over + carry - 1 : over;
      MM_UNROLL
      for (unsigned j = 0; j < kPerThread; ++j) r.low.word[j] = subtract ? less.word[j] : r.low.word[j];
    }
    return r.low;
  }
};

}  // namespace manymod::division32
