// SPDX-License-Identifier: Apache-2.0
// Technique row32: Montgomery multiplication by rows of 32-bit products with carry chains
// (row32/accumulator.cuda.hpp). Coarsely integrated operand scanning: a row of a b[i] is followed by a row of
// q[i] n, with one word of the quotient q per row.
//
// Range. Elements are almost reduced: 0 <= element < R = 2^kRadixBits, not necessarily < n. For a, b < R the
// sum after the last row is (a b + q n) / R < R + n, since q < R. One n is subtracted if the sum is R or
// more, so the result of mul and sqr is below R.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/thread_group.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "modmul/row32/accumulator.cuda.hpp"
#include "repr/lane_words.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::row32 {

/// Models the multiplier of gpu/program/multiplier.cuda.hpp. Lane l holds words l kPerThread to (l + 1)
/// kPerThread
/// - 1. kKeepsOperand: wide operands of one thread are kept in its working memory.
template <class Group, unsigned kPerThread, bool kKeepsOperand>
class MultiplierForm {
  static constexpr unsigned kLanes = Group::kSize;
  // The row loop of a single thread is unrolled and reads one word of b per row. From 16 words on, b does not
  // fit into the registers beside a, n and the accumulators, and is kept in shared memory.
  static constexpr bool kSharedOperand = kKeepsOperand && kLanes == 1 && kPerThread >= 16;

 public:
  static constexpr unsigned kWords = kPerThread * kLanes;
  static constexpr unsigned kRadixBits = 32 * kWords;
  static constexpr unsigned kLaneWords = kPerThread;
  static constexpr unsigned kSharedWords = kSharedOperand ? kPerThread : 0;

  struct Element {
    std::uint32_t word[kPerThread];
  };

  template <class Words>
  MM_DEVICE MultiplierForm(Group group, LaneMemory memory, const Words& n)
      : group_(group), memory_(memory), n_(from_words(n)), negative_inverse_(cuda::negative_inverse(n[0])) {}

  /// a. On input: a < R.
  template <class Words>
  MM_DEVICE Element from_words(const Words& a) const {
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.word[j] = a[group_.lane() * kPerThread + j];
    return r;
  }

  /// r = a mod n, 0 <= r < n. On input: a < 2 n. mul(b, c) returns such an element for b < R and an integer c
  /// < n, since (b c + q n) / R < 2 n.
  MM_DEVICE void to_words(WordSink r, const Element& a) const {
    std::uint32_t reduced[kPerThread];
    lane_words::reduce_once<kPerThread>(group_, reduced, a.word, n_.word);
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.set(group_.lane() * kPerThread + j, reduced[j]);
  }

  /// a b / R mod n. On input: a, b < R. On output: below R.
  MM_DEVICE Element mul(const Element& a, const Element& b) const {
    if constexpr (kLanes > 1) {
      return mul_grouped(a, b);
    } else if constexpr (kSharedOperand) {
      MM_UNROLL
      for (unsigned j = 0; j < kPerThread; ++j) memory_[j] = b.word[j];
      return mul_one_thread(a, memory_);
    } else {
      return mul_one_thread(a, b.word);
    }
  }

  /// a^2 / R mod n. On input: a < R. On output: below R.
  ///
  /// A square is the sum of the products of word i of lane s and word j of lane t over all (s, i) and (t, j).
  /// In the row of word (s, i), lane t adds the products with j > i doubled and the product with j = i once;
  /// a pair with i = j and s != t thus occurs in two rows. A row has kPerThread - i products in each lane,
  /// the same number in all lanes, where a multiplication has kPerThread. In all rows of a lane but its
  /// first, i = 0, these products do not reach the lowest word, which determines the quotient.
  MM_DEVICE Element sqr(const Element& a) const {
    std::uint32_t doubled[kPerThread + 1];
    double_words(doubled, a);
    Accumulator<kPerThread> s = zero();
    std::uint32_t incoming = 0;
    MM_ROLLED
    for (unsigned source = 0; source < kLanes; ++source) {
      add_first_square_row(s, incoming, doubled, group_.shuffle(square_row(doubled, 0).word, source));
      add_quotient_row(s);
      incoming = group_.from_above(s.even[0]);
      MM_UNROLL
      for (unsigned i = 1; i < kPerThread; ++i) {
        shift_and_add_quotient_row(s, incoming);
        add_square_row(s, doubled, i, group_.shuffle(square_row(doubled, i).word, source));
        incoming = group_.from_above(s.even[0]);
      }
    }
    return almost_reduced(s, incoming);
  }

  MM_DEVICE const Element& modulus() const { return n_; }

  MM_DEVICE static std::uint32_t lane_word(const Element& a, unsigned j) { return a.word[j]; }
  MM_DEVICE static void set_lane_word(Element& a, unsigned j, std::uint32_t word) { a.word[j] = word; }

 private:
  Group group_;
  LaneMemory memory_;
  Element n_;
  std::uint32_t negative_inverse_;  // -1/n mod 2^32

  /// An accumulator of 0.
  MM_DEVICE static Accumulator<kPerThread> zero() {
    Accumulator<kPerThread> s;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) s.even[j] = s.odd[j] = 0;
    s.top = 0;
    return s;
  }

  /// s += q n, with q such that the lowest word of s (of lane 0, in a group) becomes 0 mod B.
  MM_DEVICE void add_quotient_row(Accumulator<kPerThread>& s) const {
    add_row(s, n_.word, group_.shuffle(cuda::mul_low(s.even[0], negative_inverse_), 0));
  }

  /// s / B, minus n if s / B >= R. On input: s / B < R + n over all lanes. On output: below R.
  MM_DEVICE Element almost_reduced(const Accumulator<kPerThread>& s, std::uint32_t incoming) const {
    Element r;
    std::uint32_t overflow = shift_and_merge(r.word, s, incoming);
    overflow = lane_words::resolve_carries<kPerThread>(group_, r.word, overflow);
    lane_words::subtract_masked<kPerThread>(group_, r.word, r.word, n_.word, 0 - overflow);
    return r;
  }

  /// mul by one thread; `b` gives its words as [j].
  template <class Words>
  MM_DEVICE Element mul_one_thread(const Element& a, const Words& b) const {
    Accumulator<kPerThread> s = zero();
    add_row(s, a.word, b[0]);
    add_quotient_row(s);
    MM_UNROLL
    for (unsigned i = 1; i < kPerThread; ++i) {
      shift_and_add_row(s, 0, a.word, b[i]);
      add_quotient_row(s);
    }
    return almost_reduced(s, 0);
  }

  /// mul by a group: lanes take turns in broadcasting their words of b.
  MM_DEVICE Element mul_grouped(const Element& a, const Element& b) const {
    Accumulator<kPerThread> s = zero();
    std::uint32_t incoming = 0;
    MM_ROLLED
    for (unsigned source = 0; source < kLanes; ++source) {
      MM_UNROLL
      for (unsigned i = 0; i < kPerThread; ++i) {
        shift_and_add_row(s, incoming, a.word, group_.shuffle(b.word[i], source));
        add_quotient_row(s);
        incoming = group_.from_above(s.even[0]);
      }
    }
    return almost_reduced(s, incoming);
  }

  /// doubled = 2 a of a lane's own words; the bit shifted out is doubled[kPerThread].
  MM_DEVICE static void double_words(std::uint32_t* doubled, const Element& a) {
    doubled[0] = a.word[0] << 1;
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; ++j) doubled[j] = cuda::shift_left(a.word[j - 1], a.word[j], 1);
    doubled[kPerThread] = a.word[kPerThread - 1] >> 31;
  }

  /// Row i of a square: a[i] + 2 a[i + 1] B + 2 a[i + 2] B^2 + .. at words i, i + 1, ... Its words are those
  /// of 2 a, except for word i itself and for the lowest bit of word i + 1, which belongs to 2 a[i]. Only 2 a
  /// is kept in registers.
  struct SquareRow {
    const std::uint32_t* doubled;
    unsigned i;
    std::uint32_t word;  // a[i]
    MM_DEVICE std::uint32_t operator[](unsigned j) const {
      return j == i ? word : j == i + 1 ? doubled[j] & ~1u : doubled[j];
    }
  };
  /// Row i; a[i] is recovered from 2 a.
  MM_DEVICE static SquareRow square_row(const std::uint32_t* doubled, unsigned i) {
    return {doubled, i, cuda::shift_right(doubled[i], doubled[i + 1], 1)};
  }

  /// s = s / B + row 0 times `word`. The sum of the rows so far is below 3 B^(kPerThread+1) in each lane, so
  /// `top` stays small.
  MM_DEVICE static void add_first_square_row(Accumulator<kPerThread>& s, std::uint32_t incoming,
                                             const std::uint32_t* doubled, std::uint32_t word) {
    shift_and_add_row(s, incoming, square_row(doubled, 0), word);
    s.odd[kPerThread - 1] = cuda::add_cc(s.odd[kPerThread - 1], word & (0 - doubled[kPerThread]));
    s.top = cuda::addc(s.top, 0);
  }

  /// s += row i times `word`, i >= 1.
  MM_DEVICE static void add_square_row(Accumulator<kPerThread>& s, const std::uint32_t* doubled, unsigned i,
                                       std::uint32_t word) {
    const SquareRow row = square_row(doubled, i);
    const unsigned first_odd = i | 1;
    const unsigned first_even = i + i % 2;
    add_products<kPerThread>(s.odd, 1, first_odd, row, word);
    s.top = cuda::addc(s.top, 0);
    if (first_even < kPerThread) {
      add_products<kPerThread>(s.even, 0, first_even, row, word);
      s.odd[kPerThread - 1] = cuda::addc_cc(s.odd[kPerThread - 1], word & (0 - doubled[kPerThread]));
      s.top = cuda::addc(s.top, 0);
    }
  }

  /// s = s / B + q n. Usable where no row of the square reaches the lowest word (of lane 0) after this one,
  /// so that q is known before the row of the square has been added.
  MM_DEVICE void shift_and_add_quotient_row(Accumulator<kPerThread>& s, std::uint32_t incoming) const {
    const std::uint32_t lowest = s.odd[0] + s.even[1];
    shift_and_add_row(s, incoming, n_.word, group_.shuffle(cuda::mul_low(lowest, negative_inverse_), 0));
  }
};

/// The form of the technique's kernels: an alias, as compilers before Clang 19 take no template with a
/// default argument where one with fewer parameters is expected.
template <class Group, unsigned kPerThread>
using Multiplier = MultiplierForm<Group, kPerThread, true>;

}  // namespace manymod::row32
