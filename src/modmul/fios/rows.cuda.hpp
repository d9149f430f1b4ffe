// SPDX-License-Identifier: Apache-2.0
// Montgomery products by finely integrated operand scanning (FIOS: C. K. Koc, T. Acar, B. S. Kaliski,
// "Analyzing and comparing Montgomery multiplication algorithms", IEEE Micro 16, 1996), by one thread or a
// group of threads.
//
// R = beta^(kDigits kSize), beta = 2^Radix::kBits. Lane l holds digits l kDigits to (l + 1) kDigits - 1 of
// each number, in any place that gives them as [j], 0 <= j < kDigits.
//
// One loop over a lane's digits adds a row of a b and a row of q n and shifts the sum by one digit. Each of
// the two rows has its own carry variable. (The original algorithm adds the carry of the first row to the
// digit above and propagates it for as long as it lasts, which depends on the data.) The extra words are
// therefore three: two carries and the top digit.
//
// The paper uses one thread for each number. In a group each lane runs the loop on its own digits: the digit
// of b, and q, which lane 0 computes, are broadcast to all lanes; the digit that a lane shifts out is added
// at the top of the lane below; `top` stays in its lane until after the last row.
//
// Timing: constant-time; times and addresses depend on kDigits and kSize only.
#pragma once

#include <cstdint>

#include "arch/cuda/thread_group.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/fios/digits.cuda.hpp"

namespace manymod::fios {

#if defined(__CUDA_ARCH__)
#define MM_FIOS_ROW_LOOP _Pragma("unroll (Place::kRowUnrolling)")
#else
#define MM_FIOS_ROW_LOOP
#endif

/// Montgomery product and square modulo n. `Operand` stores one lane's digits of a number.
template <class Group, class Radix, class Place, unsigned kDigits, class Operand>
class Rows {
  static_assert(kDigits >= 2 && kDigits <= InRegisters::kDigitUnrolling);
  using Wide = typename Radix::Wide;

 public:
  /// On input: n0 = -1/n mod beta in lane 0; n odd.
  MM_DEVICE Rows(Group group, const Operand& n, std::uint32_t n0) : group_(group), n_(n), n0_(n0) {}

  /// r + top beta^kDigits, summed over all lanes, = (a b + q n) / R, for the q < R that makes it an integer.
  ///
  /// On input: a, b, n < R. On output: the result is below a + n. Aliasing: r is none of a, b, n.
  /// @return top: 0 <= top <= 2 in a lane of a group, 0 <= top <= 1 for one thread
  ///
  /// Bounds. Let t be r + top beta^kDigits over all lanes before a row, t' after it, and b[i] the row's digit
  /// of b:
  ///
  ///   t' = (t + a b[i] + q n) / beta < (a + n + (beta - 1) (a + n)) / beta = a + n < 2 R.
  ///
  /// In a lane of a group, top' is the high digit of top + carry + carry + incoming, where the last three are
  /// digits; from top <= 2 follows top' <= (3 (beta - 1) + 2) / beta < 3.
  MM_DEVICE std::uint32_t product(Operand& r, const Operand& a, const Operand& b) const {
    clear(r);
    std::uint32_t top = 0;
    MM_ROLLED
    for (unsigned source = 0; source < Group::kSize; ++source) {
      MM_FIOS_ROW_LOOP
      for (unsigned i = 0; i < kDigits; ++i) top = row(r, top, a, 0, group_.shuffle(b[i], source), 0);
    }
    return top;
  }

  /// The same for a^2.
  ///
  /// On input: a < R; `doubled` holds the digits of 2 a, for a lane's own digits of a, without the bit
  /// shifted out, which is `above`. On output: with one thread, `doubled` is destroyed; in a group it is
  /// unchanged.
  /// @return top: 0 <= top <= 3 in a lane of a group, 0 <= top <= 1 for one thread
  ///
  /// A square is the sum of the products of digit i of lane s and digit j of lane t over all (s, i) and (t,
  /// j). In the row of digit (s, i), lane t adds the products with j > i doubled and the product with j = i
  /// once; a pair with i = j and s != t thus occurs in two rows. A row has kDigits - i products in each lane,
  /// the same number in all lanes, where a product has kDigits. In all rows of a lane but its first, i = 0,
  /// these products do not reach the lowest digit, which determines q.
  ///
  /// Bounds. A row is below 2 R beta, so between rows t < 3 R: t' < (3 R + (beta - 1) (2 R + n)) / beta < 3
  /// R. As above, with the additional digit that a row has above the lane, top' <= (4 (beta - 1) + 3) / beta
  /// < 4.
  MM_DEVICE std::uint32_t square(Operand& r, Operand& doubled, std::uint32_t above) const {
    clear(r);
    std::uint32_t top = 0;
    MM_ROLLED
    for (unsigned source = 0; source < Group::kSize; ++source) {
      MM_FIOS_ROW_LOOP
      for (unsigned i = 0; i < kDigits; ++i) top = square_row(r, top, doubled, above, source, i);
    }
    return top;
  }

 private:
  Group group_;
  const Operand& n_;
  std::uint32_t n0_;

  /// r = 0.
  MM_DEVICE static void clear(Operand& r) {
    MM_FIOS_DIGIT_LOOP
    for (unsigned j = 0; j < kDigits; ++j) r[j] = 0;
  }

  /// Adds the row of digit i of lane `source`: a[i] + 2 a[i + 1] beta + 2 a[i + 2] beta^2 + .. in each lane,
  /// starting at digit i. Its digits are those of 2 a, except for digit i itself and for the lowest bit of
  /// digit i + 1, which belongs to 2 a[i]. @return top
  MM_DEVICE std::uint32_t square_row(Operand& r, std::uint32_t top, Operand& doubled, std::uint32_t above,
                                     unsigned source, unsigned i) const {
    const bool last = i + 1 == kDigits;
    const std::uint32_t lower = doubled[i];
    const std::uint32_t upper = last ? above : doubled[i + 1];
    const std::uint32_t own = lower >> 1 | (upper & 1) << (Radix::kBits - 1);
    doubled[i] = own;
    if (!last) doubled[i + 1] = upper & ~1u;
    const std::uint32_t digit = group_.shuffle(own, source);
    top = row(r, top, doubled, i, digit, last ? 0 : digit & (0 - above));
    if constexpr (Group::kSize > 1) {
      doubled[i] = lower;
      if (!last) doubled[i + 1] = upper;
    }
    return top;
  }

  /// body(j) for first <= j < last. Where the bounds become constants only after the surrounding loops have
  /// been unrolled, the pragma must not name a count.
  template <class Body>
  MM_DEVICE static void for_digits(unsigned first, unsigned last, const Body& body) {
    if constexpr (Place::kDigitUnrolling >= kDigits) {
      MM_UNROLL
      for (unsigned j = first; j < last; ++j) body(j);
    } else {
      MM_FIOS_DIGIT_LOOP
      for (unsigned j = first; j < last; ++j) body(j);
    }
  }

  /// One row, over all lanes:
  ///   r + top beta^kDigits = (r + top beta^kDigits + b (a - a mod beta^first) + above beta^kDigits + q n) /
  ///   beta.
  /// On input: b, above < beta. @return top
  MM_DEVICE std::uint32_t row(Operand& r, std::uint32_t top, const Operand& a, unsigned first,
                              std::uint32_t b, std::uint32_t above) const {
    std::uint32_t digit = r[0];
    std::uint32_t carry = 0;
    if (first == 0) {
      const Wide sum = Radix::multiply_add(a[0], b, digit, 0);
      digit = Radix::low(sum);
      carry = Radix::high(sum);
    }
    const std::uint32_t q = group_.shuffle((digit * n0_) & Radix::kMask, 0);
    Wide sum = Radix::multiply_add(q, n_[0], digit, 0);
    const std::uint32_t outgoing = Radix::low(sum);
    std::uint32_t quotient_carry = Radix::high(sum);
    for_digits(1, first, [&](unsigned j) {
      const Wide kept = Radix::multiply_add(q, n_[j], r[j], quotient_carry);
      quotient_carry = Radix::high(kept);
      r[j - 1] = Radix::low(kept);
    });
    for_digits(first == 0 ? 1 : first, kDigits, [&](unsigned j) {
      const Wide more = Radix::multiply_add(a[j], b, r[j], carry);
      carry = Radix::high(more);
      const Wide kept = Radix::multiply_add(q, n_[j], Radix::low(more), quotient_carry);
      quotient_carry = Radix::high(kept);
      r[j - 1] = Radix::low(kept);
    });
    sum = static_cast<Wide>(top) + carry + quotient_carry + above;
    // The digit shifted out of lane 0 is 0; the last lane receives it as its incoming digit.
    if constexpr (Group::kSize > 1) sum += group_.from_above(outgoing);
    r[kDigits - 1] = Radix::low(sum);
    return Radix::high(sum);
  }
};

#undef MM_FIOS_ROW_LOOP

}  // namespace manymod::fios
