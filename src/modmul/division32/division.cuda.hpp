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
#include "modmul/row32/accumulator.cuda.hpp"
#include "repr/lane_words.cuda.hpp"
#include "repr/word_memory.hpp"

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

/// Lane l holds words l kPerThread .. (l + 1) kPerThread - 1 of each number. All lanes of a group call each
/// function together, and all groups of a warp.
template <class Group, unsigned kPerThread>
class Division {
  static constexpr unsigned kLanes = Group::kSize;

 public:
  static constexpr unsigned kWords = kLanes * kPerThread;
  static_assert(kPerThread >= 4 && kPerThread % 4 == 0);

  struct Number {
    std::uint32_t word[kPerThread];
  };

  struct Divisor {
    Number minus;  ///< M = 2^(32 W) - N
    std::uint32_t reciprocal = 0;
    std::uint32_t shift = 0;
  };

  /// `memory`: kWords words that belong to this group.
  MM_DEVICE Division(const Group& group, LaneMemory memory) : group_(group), memory_(memory) {}

  /// words(j) for each word j of this lane.
  template <class Words>
  MM_DEVICE Number load(const Words& words) const {
    Number r;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.word[j] = words(first_word() + j);
    return r;
  }

  /// The bit length of n, in every lane.
  MM_DEVICE std::uint32_t bit_length(const Number& n) const {
    std::uint32_t top = 0, at = 0;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) {
      at = n.word[j] != 0 ? j : at;
      top = n.word[j] != 0 ? n.word[j] : top;
    }
    std::uint32_t bits = 0;
    MM_UNROLL
    for (unsigned step = 16; step > 0; step /= 2) {
      const bool above = top >> step != 0;
      bits += above ? step : 0;
      top = above ? top >> step : top;
    }
    bits += 32 * (first_word() + at) + top;  // top is 0 or 1
    const std::uint32_t lanes = group_.ballot(top != 0);
    std::uint32_t highest = 0;
    MM_UNROLL
    for (unsigned l = 1; l < kLanes; ++l) highest = (lanes >> l & 1) != 0 ? l : highest;
    const std::uint32_t length = group_.shuffle(bits, highest);
    return lanes == 0 ? 0 : length;
  }

  /// The divisor of n, whose bit length is `bits` > 0.
  MM_DEVICE Divisor divisor_of(const Number& n, std::uint32_t bits) const {
    Divisor d;
    d.shift = 32 * kWords - bits;
    const Number normal = shifted_left(n, d.shift);
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

  /// a b mod n. On input: a, b < 2^(32 W); `fold`: F, or any number below 2^(32 W) that equals it modulo n.
  MM_DEVICE Number product(const Number& a, const Number& b, const Number& fold, const Divisor& n) const {
    Folded r = upper_words(a, b);
    const unsigned words = kWords - kFolded;
    if constexpr (kLanes == 1) {
      MM_UNROLL
      for (unsigned i = 1; i <= words; ++i) add_folded(r, r.below[words - i], fold);
    } else {
      MM_ROLLED
      for (unsigned i = 1; i <= words; ++i) add_folded(r, memory_[words - i], fold);
    }
    std::uint32_t low[kFolded];
    const Remainder upper = settled(r, low);
    return quotient_by_shift(extended(upper, low, 32 * kFolded + n.shift, n), n);
  }

  /// a mod n. On input: a < 2^(32 W).
  MM_DEVICE Number residue(const Number& a, const Divisor& n) const {
    const std::uint32_t zeros[kFolded] = {};
    return quotient_by_shift(extended({a, 0}, zeros, n.shift, n), n);
  }

 private:
  Group group_;
  LaneMemory memory_;

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
    std::uint32_t below[kLanes == 1 ? kPerThread : 1];  ///< the lower words of the product; others: in memory
  };

  [[nodiscard]] MM_DEVICE unsigned first_word() const { return group_.lane() * kPerThread; }
  [[nodiscard]] MM_DEVICE bool is_top() const { return group_.lane() == kLanes - 1; }
  [[nodiscard]] MM_DEVICE bool is_bottom() const { return group_.lane() == 0; }

  /// The lane below's value; 0 in lane 0.
  [[nodiscard]] MM_DEVICE std::uint32_t from_below(std::uint32_t value) const {
    const std::uint32_t below = group_.from_below(value);
    return is_bottom() ? 0 : below;
  }

  MM_DEVICE void remember(const Number& a) const {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) memory_[first_word() + j] = a.word[j];
  }

  /// The upper W + kFolded words of a b; those below them are remembered.
  MM_DEVICE Folded upper_words(const Number& a, const Number& b) const {
    row32::Accumulator<kPerThread> s;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) s.even[j] = s.odd[j] = 0;
    s.top = 0;
    Folded r;
    Number upper;
    std::uint32_t lower[kFolded];  // words W - kFolded .. W - 1 of the product
    if constexpr (kLanes == 1) {
      row32::add_row(s, a.word, b.word[0]);
      r.below[0] = s.even[0];
      MM_UNROLL
      for (unsigned i = 1; i < kPerThread; ++i) {
        row32::shift_and_add_row(s, 0, a.word, b.word[i]);
        r.below[i] = s.even[0];
      }
      row32::shift_and_merge(upper.word, s, 0);
      MM_UNROLL
      for (unsigned j = 0; j < kFolded; ++j) lower[j] = r.below[kWords - kFolded + j];
    } else {
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
      const std::uint32_t overflow = row32::shift_and_merge(upper.word, s, incoming);
      lane_words::resolve_carries<kPerThread>(group_, upper.word, overflow);
      group_.sync();
      MM_UNROLL
      for (unsigned j = 0; j < kFolded; ++j) lower[j] = memory_[kWords - kFolded + j];
    }
    MM_UNROLL
    for (unsigned j = 0; j < kFolded; ++j) {
      const std::uint32_t below = group_.from_below(upper.word[kPerThread - kFolded + j]);
      r.number.word[j] = is_bottom() ? lower[j] : below;
    }
    MM_UNROLL
    for (unsigned j = kFolded; j < kPerThread; ++j) r.number.word[j] = upper.word[j - kFolded];
    r.low = is_top() ? upper.word[kPerThread - 3] : 0;
    r.upper[0] = upper.word[kPerThread - 2];
    r.upper[1] = upper.word[kPerThread - 1];
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
    return shifted_right(below_divisor(r, n), n.shift);
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

  /// a 2^bits modulo 2^(32 W).
  MM_DEVICE Number shifted_left(const Number& a, std::uint32_t bits) const {
    const Number moved = moved_by(a, 0 - (bits / 32), bits >= 32);
    const std::uint32_t previous = group_.from_below(moved.word[kPerThread - 1]);
    const std::uint32_t below = group_.lane() == 0 ? 0 : previous;
    Number r;
    r.word[0] = cuda::shift_left(below, moved.word[0], bits % 32);
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; ++j) {
      r.word[j] = cuda::shift_left(moved.word[j - 1], moved.word[j], bits % 32);
    }
    return r;
  }

  /// floor(a / 2^bits).
  MM_DEVICE Number shifted_right(const Number& a, std::uint32_t bits) const {
    const Number moved = moved_by(a, bits / 32, bits >= 32);
    const std::uint32_t next = group_.from_above(moved.word[0]);
    const std::uint32_t above = group_.lane() == kLanes - 1 ? 0 : next;
    Number r;
    MM_UNROLL
    for (unsigned j = 0; j + 1 < kPerThread; ++j) {
      r.word[j] = cuda::shift_right(moved.word[j], moved.word[j + 1], bits % 32);
    }
    r.word[kPerThread - 1] = cuda::shift_right(moved.word[kPerThread - 1], above, bits % 32);
    return r;
  }

  /// Word j of the result is word j + by of a, modulo 2^32, or 0 if there is none; a where `moves` is false.
  MM_DEVICE Number moved_by(const Number& a, std::uint32_t by, bool moves) const {
    if (!group_.any_in_warp(moves)) return a;
    group_.sync();
    remember(a);
    group_.sync();
    return load([&](unsigned j) {
      const std::uint32_t from = j + by;
      return from < kWords ? memory_[from] : 0u;
    });
  }
};

}  // namespace manymod::division32
