// SPDX-License-Identifier: Apache-2.0
// Montgomery products by finely integrated operand scanning (Koc, Acar, Kaliski), by one thread or a group.
//
// R = beta^(kDigits kSize), beta = 2^Radix::kBits; lane l has digits l kDigits to (l + 1) kDigits - 1 of each
// number, in any place that has them at [j], 0 <= j < kDigits. Times and addresses depend on kDigits alone.
//
// One loop over a lane's digits adds a row of a b and one of q n and shifts by a digit. Each row has a carry
// of its own, where the original adds the first row's at the digit above and lets it run on from there, for
// as long as the data demand. So the extra words are three: two carries and the top digit. The paper has one
// thread for each number. In a group the loop is each lane's own: the digit of b and q, which lane 0 finds,
// are handed to all lanes, the digit that a lane shifts out becomes the top digit of the lane below, and
// `top` stays in its lane until the last row.
#pragma once

#include <cstdint>

#include "arch/cuda/thread_group.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/fios/digits.cuda.hpp"

namespace manymod::fios {

#if defined(__CUDA_ARCH__)
#define MM_FIOS_ROUNDS _Pragma("unroll (Place::kRounds)")
#else
#define MM_FIOS_ROUNDS
#endif

/// Rows modulo n. `Operand`: a number's digits in a lane.
template <class Group, class Radix, class Place, unsigned kDigits, class Operand>
class Rows {
  static_assert(kDigits >= 2 && kDigits <= InRegisters::kUnrolling);
  using Wide = typename Radix::Wide;

 public:
  /// n0 = -1/n mod beta, in lane 0
  MM_DEVICE Rows(Group group, const Operand& n, std::uint32_t n0) : group_(group), n_(n), n0_(n0) {}

  /// The sum over all lanes of r + top beta^kDigits is (a b + q n) / R for the q < R that makes it an
  /// integer. In: a, b, n < R. r is no other operand. The result is below a + n.
  /// @return top, 0 to 2; of one thread 0 or 1
  ///
  /// With t = r + top beta^kDigits of all lanes before a row, and digit i of b,
  ///
  ///   t' = (t + a b[i] + q n) / beta < (a + n + (beta - 1) (a + n)) / beta = a + n < 2 R
  ///
  /// after it. In a lane of several top' = (top + carry + carry + incoming) / beta with three digits, and top
  /// <= 2 before: top' <= (3 (beta - 1) + 2) / beta < 3.
  MM_DEVICE std::uint32_t product(Operand& r, const Operand& a, const Operand& b) const {
    clear(r);
    std::uint32_t top = 0;
    MM_ROLLED
    for (unsigned source = 0; source < Group::kSize; ++source) {
      MM_FIOS_ROUNDS
      for (unsigned i = 0; i < kDigits; ++i) top = row(r, top, a, 0, group_.shuffle(b[i], source), 0);
    }
    return top;
  }

  /// The same for a^2. `doubled`: the digits of 2 a for a lane's own digits of a, without the bit `above`
  /// them; used up by one thread. In: a < R
  /// @return top, 0 to 3; of one thread 0 or 1
  ///
  /// A square is the sum of the products of digits (s, i) and (t, j), digit i of lane s and j of lane t, over
  /// all of both. Lane t takes those with j > i, doubled, in the row of digit (s, i), and with j = i once:
  /// the products with i = j but s != t come up in two rows. So a row has kDigits - i products in each lane,
  /// the same for all, in the place where a product has kDigits. In all rows but the first of a lane they do
  /// not reach the lowest digit, which gives q.
  ///
  /// Between rows t < 3 R, since a row is below beta 2 R: t' < (3 R + (beta - 1) (2 R + n)) / beta < 3 R. As
  /// above, top' <= (4 (beta - 1) + 3) / beta < 4, with the digit that a row has above the lane.
  MM_DEVICE std::uint32_t square(Operand& r, Operand& doubled, std::uint32_t above) const {
    clear(r);
    std::uint32_t top = 0;
    MM_ROLLED
    for (unsigned source = 0; source < Group::kSize; ++source) {
      MM_FIOS_ROUNDS
      for (unsigned i = 0; i < kDigits; ++i) top = square_row(r, top, doubled, above, source, i);
    }
    return top;
  }

 private:
  Group group_;
  const Operand& n_;
  std::uint32_t n0_;

  MM_DEVICE static void clear(Operand& r) {
    MM_FIOS_LOOP
    for (unsigned j = 0; j < kDigits; ++j) r[j] = 0;
  }

  /// The row of the source lane's digit i: a[i] + 2 a[i + 1] beta + .. in each lane, from digit i. Its digits
  /// are those of 2 a, but for a[i] itself and for the bit of a[i] in the one above.
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

  /// body(j) for first <= j < last. A loop whose bounds are known after others around it have been unrolled
  /// is to be unrolled without a count.
  template <class Body>
  MM_DEVICE static void for_digits(unsigned first, unsigned last, const Body& body) {
    if constexpr (Place::kUnrolling >= kDigits) {
      MM_UNROLL
      for (unsigned j = first; j < last; ++j) body(j);
    } else {
      MM_FIOS_LOOP
      for (unsigned j = first; j < last; ++j) body(j);
    }
  }

  /// r + top beta^kDigits = (the same + b (a without its digits below `first`) + above beta^kDigits + q n) /
  /// beta, over all lanes. In: digits b, above. @return top
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
    // The digit that leaves lane 0 is 0, which is what the last lane gets from it.
    if constexpr (Group::kSize > 1) sum += group_.from_above(outgoing);
    r[kDigits - 1] = Radix::low(sum);
    return Radix::high(sum);
  }
};

#undef MM_FIOS_ROUNDS

}  // namespace manymod::fios
