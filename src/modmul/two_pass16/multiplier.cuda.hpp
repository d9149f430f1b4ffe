// SPDX-License-Identifier: Apache-2.0
// Technique two_pass16: Montgomery multiplication by 16-bit products in two passes, unaligned products first.
// One thread computes the whole product or square, then reduces it; in a group, rows of the product alternate
// with rows of the reduction.
//
// Range. Elements are almost reduced: 0 <= element < R = 2^kRadixBits, not necessarily < n. For a, b < R the
// reduction gives (a b + q n) / R < R + n, since q < R. One n is subtracted if that is R or more, so the
// result of mul and sqr is below R.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/thread_group.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "modmul/two_pass16/lane_sums.cuda.hpp"
#include "modmul/two_pass16/passes.cuda.hpp"
#include "repr/lane_words.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::two_pass16 {

/// Models the multiplier of gpu/program/multiplier.cuda.hpp, with 32-bit words as digits. Lane l holds words
/// l kPerThread to (l + 1) kPerThread - 1.
template <class Group, unsigned kPerThread>
class Multiplier {
  static constexpr unsigned kLanes = Group::kSize;

 public:
  static constexpr unsigned kWords = kPerThread * kLanes;
  static constexpr unsigned kRadixBits = 32 * kWords;
  static constexpr unsigned kLaneWords = kPerThread;
  static constexpr unsigned kSharedWords = 0;

  struct Element {
    std::uint32_t word[kPerThread];
  };

  MM_DEVICE Multiplier(Group group, LaneMemory /*memory*/, WordSource n)
      : group_(group), n_(from_words(n)), n0_(cuda::low_half(cuda::negative_inverse(n[0]))) {}

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
    if constexpr (kLanes == 1) {
      std::uint32_t product[2 * kPerThread];
      multiply<kPerThread>(product, a.word, b.word);
      return almost_reduced(product);
    } else {
      return almost_reduced(multiply_and_reduce(group_, a.word, b.word, halves_of<kPerThread>(n_.word), n0_));
    }
  }

  /// a^2 / R mod n. Range as for mul.
  MM_DEVICE Element sqr(const Element& a) const {
    if constexpr (kLanes == 1) {
      std::uint32_t product[2 * kPerThread];
      square<kPerThread>(product, a.word);
      return almost_reduced(product);
    } else {
      return almost_reduced(square_and_reduce(group_, a.word, halves_of<kPerThread>(n_.word), n0_));
    }
  }

  MM_DEVICE static std::uint32_t lane_word(const Element& a, unsigned j) { return a.word[j]; }
  MM_DEVICE static void set_lane_word(Element& a, unsigned j, std::uint32_t word) { a.word[j] = word; }

 private:
  Group group_;
  Element n_;
  std::uint32_t n0_;  // -1/n mod 2^16

  /// product / R mod n, below R. On input: product < R^2 in 2 kPerThread words; it is destroyed.
  MM_DEVICE Element almost_reduced(std::uint32_t* product) const {
    Element r;
    const std::uint32_t overflow = reduce<kPerThread>(r.word, product, halves_of<kPerThread>(n_.word), n0_);
    return subtract_if_overflow(r, overflow);
  }

  /// The sum over all lanes, minus n if that is R or more. On input: below R + n.
  MM_DEVICE Element almost_reduced(const LaneSums<kPerThread>& sums) const {
    Element r;
    std::uint32_t overflow = shift_and_merge(r.word, sums);
    overflow = lane_words::resolve_carries<kPerThread>(group_, r.word, overflow);
    return subtract_if_overflow(r, overflow);
  }

  /// a + overflow R - overflow n. On input: overflow <= 1, a + overflow R < R + n. On output: below R.
  MM_DEVICE Element subtract_if_overflow(const Element& a, std::uint32_t overflow) const {
    Element r;
    lane_words::subtract_masked<kPerThread>(group_, r.word, a.word, n_.word, 0 - overflow);
    return r;
  }
};

}  // namespace manymod::two_pass16
