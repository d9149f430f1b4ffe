// SPDX-License-Identifier: Apache-2.0
// Technique dpf52 on CUDA devices: Montgomery multiplication with 52-bit digits in double precision, by
// coarsely integrated operand scanning with one quotient digit per row. After Emmart, Zheng, Weems, "Faster
// Modular Exponentiation using Double Precision Floating Point Arithmetic on the GPU" (2018), figures 8 to
// 10. Squaring, which forms half of the products of digits, is added here.
//
// Range. L = kPerThread kSize digits, R = 2^(52 L), W = 2^(32 kWords), W <= R / 4: two bits of headroom.
// Elements are below 2 W, not necessarily below n: for a, b < 2 W and n < W the result is (a b + q n) / R < 4
// W^2 / R + n < 2 W. Likewise it is below 2 n for a, b < 2 n. A digit is at most 2^52; with one thread per
// instance it is below 2^52.
//
// Columns. Lane l's sum[j] has weight 2^(52 (l kPerThread + j)). Exponents apart (Lemma 3), a column takes,
// while it belongs to a lane, at most kPerThread low and kPerThread high products of a b and as many of q n,
// each at most 2^52, less than 2^52 from the lane above, and a carry. It is therefore below (4 kPerThread +
// 2) 2^52 <= 2^64, and the carry out of it is below 2^12.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/doubles.cuda.hpp"
#include "arch/cuda/thread_group.cuda.hpp"
#include "modmul/dpf52/columns.cuda.hpp"
#include "modmul/dpf52/digits.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::dpf52 {

/// Models the multiplier of gpu/program/multiplier.cuda.hpp. Lane l holds digits l kPerThread to (l + 1)
/// kPerThread - 1.
template <class Group, unsigned kPerThread>
class Multiplier {
  static constexpr unsigned kLanes = Group::kSize;
  // The rows of one lane's digits are unrolled as long as the code fits instruction caches well. Beyond that,
  // a loop runs over the rows, one loop for each block of the squaring's columns, and reads the digit of each
  // row from shared memory.
  static constexpr bool kUnrolled = kPerThread <= 10;
  static constexpr unsigned kBlock = kUnrolled ? 1 : kPerThread / 5;
  // Unrolled multiplication by one thread: from 8 digits on the other operand does not fit into the
  // registers.
  static constexpr bool kSharedOperand = !kUnrolled || (kLanes == 1 && kPerThread >= 8);
  static_assert(kPerThread >= 2 && kPerThread % kBlock == 0 && 4 * kPerThread + 2 <= 1 << 12);

 public:
  static constexpr unsigned kRadixBits = kDigitBits * kPerThread * kLanes;
  static constexpr unsigned kWords = (kRadixBits - 2) / 32;
  static constexpr unsigned kLaneWords = 2 * kPerThread;
  static constexpr unsigned kSharedWords = kSharedOperand ? 2 * kPerThread : 0;

  struct Element {
    double digit[kPerThread] = {};
  };

  template <class Words>
  MM_DEVICE Multiplier(Group group, LaneMemory memory, const Words& n)
      : group_(group), memory_(memory), n_(from_words(n)), quotient_(std::uint64_t{n[1]} << 32 | n[0]) {}

  /// a. On input: a < W.
  template <class Words>
  MM_DEVICE Element from_words(const Words& a) const {
    Element r;
    load_digits<kPerThread, kWords>(r.digit, a, group_.lane());
    return r;
  }

  /// r = a mod n, 0 <= r < n. On input: a < 2 n. mul(b, c) returns such an element for b < 2 W and an integer
  /// c < n: (b c + q n) / R < n / 2 + n.
  MM_DEVICE void to_words(WordSink r, const Element& a) const {
    std::uint64_t digits[kPerThread];
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) digits[j] = cuda::to_integer(a.digit[j]);
    make_exact<kPerThread>(group_, digits);
    reduce_once<kPerThread>(group_, digits, n_.digit);
    store_words<kPerThread>(group_, r, digits);
  }

  /// a b / R mod n. On input: a, b < 2 W. On output: below 2 W; below 2 n if a, b < 2 n.
  MM_DEVICE Element mul(const Element& a, const Element& b) const {
    if constexpr (kSharedOperand) store_operand(b);
    Columns s = initial_columns();
    MM_ROLLED
    for (unsigned source = 0; source < kLanes; ++source) {
      if constexpr (kUnrolled) {
        MM_UNROLL
        for (unsigned i = 0; i < kPerThread; ++i)
          mul_row(s, a, kSharedOperand ? operand_digit(i) : b.digit[i], source, i);
      } else {
        MM_ROLLED
        for (unsigned i = 0; i < kPerThread; ++i) mul_row(s, a, operand_digit(i), source, i);
      }
    }
    return finish(s);
  }

  /// a^2 / R mod n. Range as for mul. It forms half of the products of digits, without exchange among lanes.
  ///
  /// The row of digit i of lane s omits the products with digits (l, j), j < i, of every lane l. In exchange,
  /// lane s adds these products twice in row (l, j). The product of digits x and y is thus added in row x or
  /// in row y, before row x + y, in which its column leaves.
  ///
  /// Products that count twice have columns of their own, `cross`, which are doubled (LEA and LEA.HI.X) when
  /// a row has no more products for them. Doubled digits could reach 2^53, against Lemma 1, and doubling each
  /// product takes two instructions. Where rows and columns are taken in blocks, all products within a block
  /// are formed.
  MM_DEVICE Element sqr(const Element& a) const {
    if constexpr (!kUnrolled) store_operand(a);
    Columns s = initial_columns();
    Columns cross;
    MM_ROLLED
    for (unsigned source = 0; source < kLanes; ++source) {
      MM_UNROLL
      for (unsigned j = 0; j <= kPerThread; ++j) cross.sum[j] = 0;
      MM_UNROLL
      for (unsigned first = 0; first < kPerThread; first += kBlock) {
        if constexpr (kUnrolled) {
          sqr_row(s, cross, a, a.digit[first], source, first, first);
        } else {
          MM_ROLLED
          for (unsigned i = first; i < first + kBlock; ++i)
            sqr_row(s, cross, a, operand_digit(i), source, i, first);
        }
        MM_UNROLL
        for (unsigned j = first + kBlock; j < first + 2 * kBlock && j < kPerThread; ++j)
          add_cross_column(s, cross, j);
      }
    }
    return finish(s);
  }

  MM_DEVICE const Element& modulus() const { return n_; }

  /// Words 2 j and 2 j + 1 of a lane are the low and the high word of digit j's bit pattern.
  MM_DEVICE static std::uint32_t lane_word(const Element& a, unsigned j) {
    return static_cast<std::uint32_t>(cuda::pattern(a.digit[j / 2]) >> (32 * (j % 2)));
  }
  MM_DEVICE static void set_lane_word(Element& a, unsigned j, std::uint32_t word) {
    const std::uint64_t other = cuda::pattern(a.digit[j / 2]) & (~std::uint64_t{0} << 32 >> (32 * (j % 2)));
    a.digit[j / 2] = cuda::from_pattern(other | std::uint64_t{word} << (32 * (j % 2)));
  }

 private:
  /// The columns of this lane, and what this lane adds to the lowest column of the lane above.
  struct Columns {
    std::uint64_t sum[kPerThread + 1];
  };

  Group group_;
  LaneMemory memory_;
  Element n_;
  QuotientDigits quotient_;

  /// Copies an operand's digits to shared memory.
  MM_DEVICE void store_operand(const Element& a) const {
    MM_UNROLL
    for (unsigned j = 0; j < kLaneWords; ++j) memory_[j] = lane_word(a, j);
  }
  /// Digit i of the operand in shared memory.
  MM_DEVICE double operand_digit(unsigned i) const {
    return cuda::from_pattern(std::uint64_t{memory_[2 * i + 1]} << 32 | memory_[2 * i]);
  }

  // Exponents (Lemma 3). A squaring adds as many patterns to a column as a multiplication, counting doubled
  // ones twice. One of the kPerThread initial columns, number j, takes j + 1 low and j high products of a b
  // before it leaves as sum[0], and as many of q n, except that one thread omits the low product n_0 q. A
  // column that enters later, as sum[kPerThread], takes kPerThread of each before it leaves; if it is sum[j]
  // after the last row, it has taken kPerThread - 1 - j low and kPerThread - j high products. Quotient digits
  // do not depend on exponents, so each column is corrected when its carry is taken. Where the row number is
  // not known at compile time, all columns get the same correction there, and the initial columns start from
  // the difference.
  static constexpr bool kRowIsKnown = kLanes == 1 && kUnrolled;
  static constexpr std::uint64_t kEnteringColumnCorrection = initial_value(2 * kPerThread, 2 * kPerThread);

  /// The correction of initial column j when it leaves as sum[0].
  MM_DEVICE static constexpr std::uint64_t initial_column_correction(unsigned j) {
    return initial_value(2 * j, kLanes == 1 ? 2 * j + 1 : 2 * j + 2);
  }
  /// The correction of a column that is sum[j] after the last row.
  MM_DEVICE static constexpr std::uint64_t final_column_correction(unsigned j) {
    return initial_value(2 * (kPerThread - j), 2 * (kPerThread - 1 - j));
  }

  /// The columns before the first row.
  MM_DEVICE static Columns initial_columns() {
    Columns s;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j)
      s.sum[j] = kRowIsKnown ? 0 : initial_column_correction(j) - kEnteringColumnCorrection;
    s.sum[kPerThread] = 0;
    return s;
  }

  /// s = (s + a digit + q n) / 2^52. On input: `digit` in lane `source` is digit i of the other operand.
  MM_DEVICE void mul_row(Columns& s, const Element& a, double digit, unsigned source, unsigned i) const {
    add_products(s.sum, a.digit, group_.shuffle(digit, source), 0, kPerThread);
    reduce(s, i);
  }

  /// The same for row i of a square. On input: `first` is the first digit of the block that contains i.
  MM_DEVICE void sqr_row(Columns& s, Columns& cross, const Element& a, double digit, unsigned source,
                         unsigned i, unsigned first) const {
    const double y = group_.shuffle(digit, source);
    add_products(s.sum, a.digit, y, first, first + kBlock);
    add_products(cross.sum, a.digit, y, first + kBlock, kPerThread);
    if (first + kBlock < kPerThread) add_cross_column(s, cross, first + kBlock);
    reduce(s, i);
    MM_UNROLL
    for (unsigned j = first + kBlock; j < kPerThread; ++j) cross.sum[j] = cross.sum[j + 1];
    cross.sum[kPerThread] = 0;
  }

  /// Adds twice the cross column j, to which no more products of this source lane will be added.
  MM_DEVICE static void add_cross_column(Columns& s, const Columns& cross, unsigned j) {
    s.sum[j] += cross.sum[j] + cross.sum[j];
  }

  /// s = (s + q n) / 2^52, in row i.
  MM_DEVICE void reduce(Columns& s, unsigned i) const {
    const double q = group_.shuffle(quotient_.of(s.sum[0]), 0);
    const std::uint64_t correction = kRowIsKnown ? initial_column_correction(i) : kEnteringColumnCorrection;
    std::uint64_t incoming = 0;
    if constexpr (kLanes == 1) {
      // Lemma 5: no low product of n_0 q.
      const std::uint64_t carry = (s.sum[0] + correction + kDigitMask) >> kDigitBits;
      s.sum[1] += cuda::pattern(high_product(n_.digit[0], q)) + carry;
      add_products(s.sum, n_.digit, q, 1, kPerThread);
    } else {
      // The digit shifted out of lane 0 is 0; the last lane receives it as its incoming digit.
      add_products(s.sum, n_.digit, q, 0, kPerThread);
      incoming = group_.from_above(s.sum[0] & kDigitMask);
      s.sum[1] += (s.sum[0] + correction) >> kDigitBits;
    }
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) s.sum[j] = s.sum[j + 1];
    s.sum[kPerThread - 1] += incoming;
    s.sum[kPerThread] = 0;
  }

  /// The digits of s. On input: the number is below R / 2. On output: digits <= 2^52.
  MM_DEVICE Element finish(Columns& s) const {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) s.sum[j] += final_column_correction(j);
    const std::uint64_t carry = ripple<kPerThread>(s.sum, 0);
    if constexpr (kLanes > 1) {
      // The carry, below 2^12, is added to the lowest digit of the lane above, and from there at most 1 to
      // its next digit, which may become 2^52 (figure 10). Nothing leaves the last lane, as the number is
      // below R.
      s.sum[0] += group_.from_below(carry);
      s.sum[1] += s.sum[0] >> kDigitBits;
      s.sum[0] &= kDigitMask;
    }
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) {
      r.digit[j] = kLanes > 1 && j == 1 ? cuda::to_double(s.sum[j])
                                        : cuda::fraction_to_double(s.sum[j], quotient_.two52_high());
    }
    return r;
  }
};

}  // namespace manymod::dpf52
