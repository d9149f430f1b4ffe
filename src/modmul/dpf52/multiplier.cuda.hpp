// SPDX-License-Identifier: Apache-2.0
// Technique dpf52 on CUDA devices: Montgomery multiplication with 52-bit digits in double precision, one
// digit of the quotient a row (coarsely integrated operand scanning). After Emmart, Zheng, Weems, "Faster
// Modular Exponentiation using Double Precision Floating Point Arithmetic on the GPU" (2018), figures 8 to
// 10, and a squaring with half of the products of digits.
//
// Ranges, with L = kPerThread kSize digits, R = 2^(52 L), W = 2^(32 kWords): W <= R / 4, which leaves two
// bits free. Numbers are below 2 W, not necessarily below n: for a, b < 2 W and n < W the result is (a b + q
// n) / R < 4 W^2 / R + n < 2 W. For a, b < 2 n it is below 2 n in the same way. A digit is at most 2^52, and
// exact, below 2^52, for one thread.
//
// Columns. Lane l's sum[j] stands at 2^(52 (l kPerThread + j)). But for exponents (Lemma 3), while it belongs
// to a lane it takes at most kPerThread low and kPerThread high products of a b and as many of q n, each at
// most 2^52, less than 2^52 from the lane above, and a carry: it is below (4 kPerThread + 2) 2^52 <= 2^64,
// and the carry out of it below 2^12.
#pragma once

#include <cstdint>

#include "arch/cuda/doubles.cuda.hpp"
#include "arch/cuda/thread_group.cuda.hpp"
#include "modmul/dpf52/columns.cuda.hpp"
#include "modmul/dpf52/digits.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::dpf52 {

/// See gpu/program/multiplier.cuda.hpp. Lane l holds digits l kPerThread to (l + 1) kPerThread - 1.
template <class Group, unsigned kPerThread>
class Multiplier {
  static constexpr unsigned kLanes = Group::kSize;
  // Rows of one lane's digits are unrolled as long as the code fits well into instruction caches; else there
  // is a loop over them for each block of the squaring's columns, and the digits that it takes in turn come
  // from memory.
  static constexpr bool kUnrolled = kPerThread <= 10;
  static constexpr unsigned kBlock = kUnrolled ? 1 : kPerThread / 5;
  // The other operand of an unrolled multiplication by one thread would not fit into the registers.
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

  template <class Words>
  MM_DEVICE Element from_words(const Words& a) const {
    Element r;
    load_digits<kPerThread, kWords>(r.digit, a, group_.lane());
    return r;
  }

  /// In: a < 2 n, as mul(b, c) returns it for any b < 2 W and an integer c < n: (b c + q n) / R < n / 2 + n.
  MM_DEVICE void to_words(WordSink r, const Element& a) const {
    std::uint64_t digits[kPerThread];
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) digits[j] = cuda::to_integer(a.digit[j]);
    make_exact<kPerThread>(group_, digits);
    reduce_once<kPerThread>(group_, digits, n_.digit);
    store_words<kPerThread>(group_, r, digits);
  }

  MM_DEVICE Element mul(const Element& a, const Element& b) const {
    if constexpr (kSharedOperand) keep(b);
    Columns s = first_columns();
    MM_ROLLED
    for (unsigned source = 0; source < kLanes; ++source) {
      if constexpr (kUnrolled) {
        MM_UNROLL
        for (unsigned i = 0; i < kPerThread; ++i)
          mul_row(s, a, kSharedOperand ? kept(i) : b.digit[i], source, i);
      } else {
        MM_ROLLED
        for (unsigned i = 0; i < kPerThread; ++i) mul_row(s, a, kept(i), source, i);
      }
    }
    return finish(s);
  }

  /// Half of the products of digits, without exchange among lanes. Row (s, i), of lane s's digit i, leaves
  /// out the products with digits (l, j), j < i, of every lane l; lane s adds them twice in row (l, j). A
  /// product of digits x and y thus comes in row x or row y: not after row x + y, in which its column leaves.
  ///
  /// What is added twice has columns of its own, `cross`, which are doubled (LEA and LEA.HI.X) when a row has
  /// no more for them. Doubled digits instead would reach 2^53, against Lemma 1, and doubled products take
  /// two instructions each. With i and j taken in blocks, products within a block are all made.
  MM_DEVICE Element sqr(const Element& a) const {
    if constexpr (!kUnrolled) keep(a);
    Columns s = first_columns();
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
          for (unsigned i = first; i < first + kBlock; ++i) sqr_row(s, cross, a, kept(i), source, i, first);
        }
        MM_UNROLL
        for (unsigned j = first + kBlock; j < first + 2 * kBlock && j < kPerThread; ++j)
          take_cross(s, cross, j);
      }
    }
    return finish(s);
  }

  MM_DEVICE const Element& modulus() const { return n_; }

  MM_DEVICE static std::uint32_t lane_word(const Element& a, unsigned j) {
    return static_cast<std::uint32_t>(cuda::pattern(a.digit[j / 2]) >> (32 * (j % 2)));
  }
  MM_DEVICE static void set_lane_word(Element& a, unsigned j, std::uint32_t word) {
    const std::uint64_t other = cuda::pattern(a.digit[j / 2]) & (~std::uint64_t{0} << 32 >> (32 * (j % 2)));
    a.digit[j / 2] = cuda::from_pattern(other | std::uint64_t{word} << (32 * (j % 2)));
  }

 private:
  /// The columns of this lane, and the lowest of the lane above, as far as this one adds to it.
  struct Columns {
    std::uint64_t sum[kPerThread + 1];
  };

  Group group_;
  LaneMemory memory_;
  Element n_;
  QuotientDigits quotient_;

  MM_DEVICE void keep(const Element& a) const {
    MM_UNROLL
    for (unsigned j = 0; j < kLaneWords; ++j) memory_[j] = lane_word(a, j);
  }
  MM_DEVICE double kept(unsigned i) const {
    return cuda::from_pattern(std::uint64_t{memory_[2 * i + 1]} << 32 | memory_[2 * i]);
  }

  // Exponents (Lemma 3). A squaring adds as many products to a column as a multiplication: those that it
  // leaves out count in the doubled ones. Column j of the first kPerThread takes j + 1 low and j high
  // products of a b before it leaves as sum[0], and as many of q n, except that one thread leaves out the low
  // product n_0 q. A column that comes in later, as sum[kPerThread], takes kPerThread of each; or, if it is
  // sum[j] after the last row, kPerThread - 1 - j low and kPerThread - j high ones. Quotient digits do not
  // see exponents, so that each column is corrected when its carry is wanted. Where the row is not known
  // then, the first columns start from the difference to those that come later.
  static constexpr bool kRowIsKnown = kLanes == 1 && kUnrolled;
  static constexpr std::uint64_t kEntered = initial_value(2 * kPerThread, 2 * kPerThread);

  MM_DEVICE static constexpr std::uint64_t started(unsigned j) {
    return initial_value(2 * j, kLanes == 1 ? 2 * j + 1 : 2 * j + 2);
  }
  MM_DEVICE static constexpr std::uint64_t staying(unsigned j) {
    return initial_value(2 * (kPerThread - j), 2 * (kPerThread - 1 - j));
  }

  MM_DEVICE static Columns first_columns() {
    Columns s;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) s.sum[j] = kRowIsKnown ? 0 : started(j) - kEntered;
    s.sum[kPerThread] = 0;
    return s;
  }

  /// `digit`: the source lane's, its digit i.
  MM_DEVICE void mul_row(Columns& s, const Element& a, double digit, unsigned source, unsigned i) const {
    add_products(s.sum, a.digit, group_.shuffle(digit, source), 0, kPerThread);
    reduce(s, i);
  }

  /// `first`: of the block that i is in.
  MM_DEVICE void sqr_row(Columns& s, Columns& cross, const Element& a, double digit, unsigned source,
                         unsigned i, unsigned first) const {
    const double y = group_.shuffle(digit, source);
    add_products(s.sum, a.digit, y, first, first + kBlock);
    add_products(cross.sum, a.digit, y, first + kBlock, kPerThread);
    if (first + kBlock < kPerThread) take_cross(s, cross, first + kBlock);
    reduce(s, i);
    MM_UNROLL
    for (unsigned j = first + kBlock; j < kPerThread; ++j) cross.sum[j] = cross.sum[j + 1];
    cross.sum[kPerThread] = 0;
  }

  /// Column j gets no more cross products from this source.
  MM_DEVICE static void take_cross(Columns& s, const Columns& cross, unsigned j) {
    s.sum[j] += cross.sum[j] + cross.sum[j];
  }

  /// s = (s + q n) / 2^52, in row i.
  MM_DEVICE void reduce(Columns& s, unsigned i) const {
    const double q = group_.shuffle(quotient_.of(s.sum[0]), 0);
    const std::uint64_t correction = kRowIsKnown ? started(i) : kEntered;
    std::uint64_t incoming = 0;
    if constexpr (kLanes == 1) {
      // Lemma 5: no low product of n_0 q.
      const std::uint64_t carry = (s.sum[0] + correction + kDigitMask) >> kDigitBits;
      s.sum[1] += cuda::pattern(high_product(n_.digit[0], q)) + carry;
      add_products(s.sum, n_.digit, q, 1, kPerThread);
    } else {
      // The digit that leaves lane 0 is 0, which is what the last lane gets from it.
      add_products(s.sum, n_.digit, q, 0, kPerThread);
      incoming = group_.from_above(s.sum[0] & kDigitMask);
      s.sum[1] += (s.sum[0] + correction) >> kDigitBits;
    }
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) s.sum[j] = s.sum[j + 1];
    s.sum[kPerThread - 1] += incoming;
    s.sum[kPerThread] = 0;
  }

  /// The digits of s. In: the number is below R / 2.
  MM_DEVICE Element finish(Columns& s) const {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) s.sum[j] += staying(j);
    const std::uint64_t carry = ripple<kPerThread>(s.sum, 0);
    if constexpr (kLanes > 1) {
      // The carry, below 2^12, goes through the lowest digit of the lane above, and from there at most 1 into
      // the next, which may become 2^52 (figure 10). None leaves the last lane, as the number is below R.
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
