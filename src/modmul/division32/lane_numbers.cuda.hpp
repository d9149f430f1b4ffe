// SPDX-License-Identifier: Apache-2.0
// Numbers of W words in the lanes of a group: reading, lengths and shifts. Lane l holds words l kPerThread ..
// (l + 1) kPerThread - 1 of each number. All lanes of a group call each function together, and all groups of
// a warp.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "repr/word_memory.hpp"

namespace manymod::division32 {

template <class Group, unsigned kPerThread>
class LaneNumbers {
 public:
  static constexpr unsigned kLanes = Group::kSize;
  static constexpr unsigned kWords = kLanes * kPerThread;

  struct Number {
    std::uint32_t word[kPerThread];
  };

  /// `memory`: kWords words that belong to this group.
  MM_DEVICE LaneNumbers(const Group& group, LaneMemory memory) : group_(group), memory_(memory) {}

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

  /// The words in memory, as they were remembered by all lanes.
  MM_DEVICE Number remembered() const {
    return load([this](unsigned j) { return memory_[j]; });
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

 protected:
  Group group_;
  LaneMemory memory_;

  [[nodiscard]] MM_DEVICE unsigned first_word() const { return group_.lane() * kPerThread; }
  [[nodiscard]] MM_DEVICE bool is_top() const { return group_.lane() == kLanes - 1; }
  [[nodiscard]] MM_DEVICE bool is_bottom() const { return group_.lane() == 0; }

  /// The lane below's value; 0 in lane 0.
  [[nodiscard]] MM_DEVICE std::uint32_t from_below(std::uint32_t value) const {
    const std::uint32_t below = group_.from_below(value);
    return is_bottom() ? 0 : below;
  }

  /// Writes the words to memory. Callers synchronise.
  MM_DEVICE void remember(const Number& a) const {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) memory_[first_word() + j] = a.word[j];
  }

 private:
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
