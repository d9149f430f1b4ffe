// SPDX-License-Identifier: Apache-2.0
// Sums, differences, halves and canonical forms of row32's numbers: what a field needs besides products.
//
// With a multiple m = n 2^z of the modulus, R/2 < m < R, subtracting or adding m at most twice brings a sum
// or a difference of numbers below R back below R. All lanes of a group call each function together.
// Constant-time: no branch and no address depends on a number.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/row32/multiplier.cuda.hpp"
#include "repr/lane_words.cuda.hpp"

namespace manymod::row32 {

template <class Group, unsigned kPerThread, bool kKeepsOperand = true>
class Numbers {
  static constexpr std::uint32_t kAll = 0xffffffffu;

 public:
  using Multiplier = row32::MultiplierForm<Group, kPerThread, kKeepsOperand>;
  using Element = typename Multiplier::Element;
  static constexpr unsigned kTotalWords = Multiplier::kWords;
  static constexpr unsigned kBoundBits = Multiplier::kRadixBits;  ///< numbers are below 2^kBoundBits

  /// The number of words a[j]. On input: a < 2^kBoundBits; words beyond its end are 0.
  template <class Words>
  MM_DEVICE static Element load(const Group& group, const Words& a) {
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.word[j] = a[group.lane() * kPerThread + j];
    return r;
  }

  /// a + b mod n, below R. On input: a, b < R. The sum is below 2 R, after one subtraction below 2 R - R/2
  /// and after two below R.
  MM_DEVICE static Element add(const Group& group, const Element& a, const Element& b,
                               const Element& multiple) {
    Element r;
    std::uint32_t overflow = lane_words::add_masked<kPerThread>(group, r.word, a.word, b.word, kAll);
    MM_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      overflow -= lane_words::subtract_masked<kPerThread>(group, r.word, r.word, multiple.word, 0 - overflow);
    }
    return r;
  }

  /// a - b mod n, below R. On input: a, b < R. The difference is above -R, and 2 m > R.
  MM_DEVICE static Element sub(const Group& group, const Element& a, const Element& b,
                               const Element& multiple) {
    Element r;
    std::uint32_t borrow = lane_words::subtract_masked<kPerThread>(group, r.word, a.word, b.word, kAll);
    MM_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      borrow -= lane_words::add_masked<kPerThread>(group, r.word, r.word, multiple.word, 0 - borrow);
    }
    return r;
  }

  /// a / 2 mod n, below R: (a + (a mod 2) n) / 2 < (R + n) / 2. On input: a < R, n the odd modulus.
  MM_DEVICE static Element half(const Group& group, const Element& a, const Element& n) {
    const std::uint32_t odd = group.shuffle(a.word[0] & 1, 0);
    Element r;
    const std::uint32_t overflow = lane_words::add_masked<kPerThread>(group, r.word, a.word, n.word, 0 - odd);
    const std::uint32_t above = group.from_above(r.word[0]);
    MM_UNROLL
    for (unsigned j = 0; j + 1 < kPerThread; ++j) r.word[j] = cuda::shift_right(r.word[j], r.word[j + 1], 1);
    r.word[kPerThread - 1] =
        cuda::shift_right(r.word[kPerThread - 1], group.lane() == Group::kSize - 1 ? overflow : above, 1);
    return r;
  }

  /// R mod n, as R - m < R.
  MM_DEVICE static Element radix(const Group& group, const Element& multiple) {
    Element r = {};
    lane_words::subtract_masked<kPerThread>(group, r.word, r.word, multiple.word, kAll);
    return r;
  }

  /// a mod n, below n. On input: a <= n
  MM_DEVICE static Element canonical(const Group& group, const Element& a, const Element& n) {
    Element r;
    lane_words::reduce_once<kPerThread>(group, r.word, a.word, n.word);
    return r;
  }

  /// r.set(j, word j) for all words, each by the lane that holds it.
  template <class Sink>
  MM_DEVICE static void store(const Group& group, const Sink& r, const Element& a) {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.set(group.lane() * kPerThread + j, a.word[j]);
  }

  /// words[0 .. kTotalWords) = all words of a canonical number, in every lane.
  MM_DEVICE static void gather(const Group& group, std::uint32_t* words, const Element& a) {
    MM_ROLLED
    for (unsigned source = 0; source < Group::kSize; ++source) {
      MM_UNROLL
      for (unsigned j = 0; j < kPerThread; ++j)
        words[source * kPerThread + j] = group.shuffle(a.word[j], source);
    }
  }
};

}  // namespace manymod::row32
