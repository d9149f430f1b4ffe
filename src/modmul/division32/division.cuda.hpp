// SPDX-License-Identifier: Apache-2.0
// Technique division32: residues modulo any n, odd or even, by long division with lazy quotient digits.
//
// W words hold a number. The divisor is N = n 2^shift with its top bit at bit 32 W - 1, so that a residue
// modulo N is one modulo n, and (a 2^shift mod N) / 2^shift = a mod n. A remainder r is extended by e bits at
// a time: with T = 2^e r + digit, r becomes T - q N for a lower estimate q of T / N. No estimate is ever
// corrected: r stays below 4 N, and at the end two conditional subtractions make it less than N.
//
// The estimate. With v = N's reciprocal, 0 <= 2^(32 W + 31) / N - v < 2 and v < 2^32, let
//   u = floor(T / 2^(32 W - 1)),  q = floor(u v / 2^32).
// For r < 4 N and e <= 29, T < 2^(32 W + 31), so u < 2^32. As N >= 2^(32 W - 1), T / N is less than
// u 2^(32 W - 1) / N + 1 < u (v + 2) / 2^32 + 1 < q + 1 + 2 u / 2^32 + 1 <= q + 4: r stays below 4 N.
// For e <= 28, u < 2^31, and the new r is below 3 N. The last digit has at most 28 bits.
//
// T - q N = T + q M - q 2^(32 W) with M = 2^(32 W) - N, so that a row is one carry chain of additions.
//
// A number modulo 2^(64 W) is extended by its lower W words, from the top down, and then by `shift` zero
// bits. This costs W products of words for each 29 bits; with the product of two numbers before it about
// 2.1 W^2, as much as one Montgomery multiplication, while the residue needs no second one.
//
// In a group of lanes, what leaves the words of a lane during a row is added to the lane above in the next
// row. The lanes' words then are a number less than r by up to 2^(32 (W - kPerThread) + 33), and r's top part
// can be -1; u is 0 in this case. A smaller u makes q at most one unit of u smaller, which is below 2^-60 N:
// the bound on T / N - q above is not reached within it.
//
// Timing: constant, except for the number of rows, which depends on n's length.
#pragma once

#include <cstdint>
#include <type_traits>

#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/row32/accumulator.cuda.hpp"
#include "repr/lane_words.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::division32 {

inline constexpr unsigned kDigitBits = 29;
inline constexpr unsigned kLastDigitBits = 28;

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
  /// The bits of the lower W words that are left after the digits of kDigitBits.
  static constexpr unsigned kRestBits = 32 * kWords % kDigitBits;
  static_assert(0 < kRestBits && kRestBits <= kLastDigitBits);

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

  /// a b mod n. On input: a, b < 2^(32 W).
  MM_DEVICE Number product(const Number& a, const Number& b, const Divisor& n) const {
    row32::Accumulator<kPerThread> s;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) s.even[j] = s.odd[j] = 0;
    s.top = 0;
    Number high;
    if constexpr (kLanes == 1) {
      std::uint32_t low[kPerThread];
      row32::add_row(s, a.word, b.word[0]);
      low[0] = s.even[0];
      MM_UNROLL
      for (unsigned i = 1; i < kPerThread; ++i) {
        row32::shift_and_add_row(s, 0, a.word, b.word[i]);
        low[i] = s.even[0];
      }
      row32::shift_and_merge(high.word, s, 0);
      return remainder(high, low, n);
    } else {
      group_.sync();
      const bool is_top = group_.lane() == kLanes - 1;
      std::uint32_t incoming = 0;
      MM_ROLLED
      for (unsigned source = 0; source < kLanes; ++source) {
        MM_UNROLL
        for (unsigned i = 0; i < kPerThread; ++i) {
          row32::shift_and_add_row(s, incoming, a.word, group_.shuffle(b.word[i], source));
          // The top lane gets the word of lane 0, which is final.
          const std::uint32_t above = group_.from_above(s.even[0]);
          if (is_top) memory_[source * kPerThread + i] = above;
          incoming = is_top ? 0 : above;
        }
      }
      const std::uint32_t overflow = row32::shift_and_merge(high.word, s, incoming);
      lane_words::resolve_carries<kPerThread>(group_, high.word, overflow);
      group_.sync();
      return remainder(high, memory_, n);
    }
  }

  /// a mod n. On input: a < 2^(32 W).
  MM_DEVICE Number residue(const Number& a, const Divisor& n) const {
    group_.sync();
    remember(a);
    group_.sync();
    return remainder(Number{}, memory_, n);
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

  [[nodiscard]] MM_DEVICE unsigned first_word() const { return group_.lane() * kPerThread; }

  MM_DEVICE void remember(const Number& a) const {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) memory_[first_word() + j] = a.word[j];
  }

  /// high 2^(32 W) + low modulo n. `low` gives word j as [j].
  template <class Low>
  MM_DEVICE Number remainder(const Number& high, const Low& low, const Divisor& n) const {
    constexpr unsigned kDigits = 32 * kWords / kDigitBits;
    Remainder r{high, 0};
    if constexpr (std::is_same_v<Low, LaneMemory>) {
      MM_ROLLED
      for (unsigned i = 1; i <= kDigits; ++i)
        append(r, digit(low, 32 * kWords - kDigitBits * i), kDigitBits, n);
    } else {
      MM_UNROLL
      for (unsigned i = 1; i <= kDigits; ++i)
        append(r, digit(low, 32 * kWords - kDigitBits * i), kDigitBits, n);
    }
    std::uint32_t left = kRestBits + n.shift;
    std::uint32_t rest = low[0] & ((1u << kRestBits) - 1), rest_bits = kRestBits;
    MM_ROLLED
    while (group_.any_in_warp(left > 0)) {
      const unsigned bits = left < kLastDigitBits ? left : kLastDigitBits;
      // For bits = 0 this changes r by a multiple of N only.
      append(r, rest << ((bits - rest_bits) & 31), bits, n);
      rest = rest_bits = 0;
      left -= bits;
    }
    return shifted_right(below_divisor(r, n), n.shift);
  }

  /// Bits first .. first + kDigitBits - 1. On input: first + kDigitBits <= 32 W.
  template <class Low>
  MM_DEVICE static std::uint32_t digit(const Low& low, unsigned first) {
    const unsigned j = first / 32, above = j + 1 < kWords ? j + 1 : j;
    return cuda::shift_right(low[j], low[above], first % 32) & ((1u << kDigitBits) - 1);
  }

  /// r = 2^bits r + digit - q N. On input: r < 4 N, bits <= kDigitBits, digit < 2^bits.
  MM_DEVICE void append(Remainder& r, std::uint32_t digit, unsigned bits, const Divisor& n) const {
    constexpr unsigned kTop = kPerThread - 1;
    const bool is_top = group_.lane() == kLanes - 1;
    const std::uint32_t over = is_top ? r.over : 0;
    std::uint32_t u = cuda::shift_right(r.low.word[kTop], over, 31 - bits);
    if constexpr (kLanes > 1) u = over >> 31 != 0 ? 0 : u;
    const std::uint32_t q = group_.shuffle(multiply_high(u, n.reciprocal), kLanes - 1);
    std::uint32_t pending = group_.from_below(r.over);
    pending = group_.lane() == 0 ? 0 : pending;
    digit = group_.lane() == 0 ? digit : 0;
    std::uint32_t t[kPerThread], odd[kPerThread];
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; ++j) {
      t[j] = cuda::shift_left(r.low.word[j - 1], r.low.word[j], bits);
    }
    t[0] = r.low.word[0] << bits | digit;
    std::uint32_t out = cuda::shift_left(r.low.word[kTop], over, bits);
    const Shifted carried = shifted(pending, bits);
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; j += 2) {
      if (kLanes > 1 && j == 1) {
        cuda::mad_wide_cc(odd[0], odd[1], n.minus.word[1], q, carried.high, 0);
        continue;
      }
      const std::uint64_t wide = std::uint64_t{n.minus.word[j]} * q;
      odd[j - 1] = static_cast<std::uint32_t>(wide);
      odd[j] = static_cast<std::uint32_t>(wide >> 32);
    }
    row32::add_products<kPerThread>(t, 0, 0, n.minus.word, q);
    out = cuda::addc(out, 0);
    if constexpr (kLanes > 1) {
      t[0] = cuda::add_cc(t[0], carried.low);
      t[1] = cuda::addc_cc(t[1], odd[0]);
    } else {
      t[1] = cuda::add_cc(t[1], odd[0]);
    }
    MM_UNROLL
    for (unsigned j = 2; j < kPerThread; ++j) t[j] = cuda::addc_cc(t[j], odd[j - 1]);
    out = cuda::addc(out, odd[kTop]);
    r.over = out - (is_top ? q : 0);
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.low.word[j] = t[j];
  }

  /// r mod N. On input: r < 3 N.
  MM_DEVICE Number below_divisor(Remainder& r, const Divisor& n) const {
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
