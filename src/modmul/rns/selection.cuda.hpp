// SPDX-License-Identifier: Apache-2.0
// Table elements of secret digits, for many digits from one reading of the table.
//
// An element's words of one instance are the fours of a quad of threads. A thread reads those of its place in
// the quad, of every eighth element, and the warp so has all elements' at once. It then is the thread of one
// digit: a shuffle brings it the words of the element eight times something plus d mod 8 from each of the
// threads' sets, and masks choose the set. What is read and written, and where, does not depend on digits.
// The threads that shuffles read do; the four of a quad always read four, one at each place of a quad, and so
// shuffles take the same time whatever the digits are (docs/rns.md, "Class secret").
#pragma once

#include <cstdint>

#include "arch/cuda/opaque.hpp"
#include "arch/cuda/portable.hpp"
#include "modmul/device/digit_value.hpp"
#include "modmul/device/multiplier.hpp"
#include "modmul/device/program.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/record.cuda.hpp"

namespace manymod::rns {

/// The elements of a warp's instances, in records of kFours fours, for up to kSelections steps that choose
/// from the same elements by digits of the same exponent.
template <class Team, unsigned kFours, unsigned kSelections>
class Selection {
  static constexpr unsigned kQuads = Record::kWarp / 4;
  // Elements that a thread reads, and digits that it chooses for.
  static constexpr unsigned kSets = kChoices / kQuads, kDigits = kSelections / kQuads;

 public:
  static constexpr unsigned kItems = 2 * kQuads;

  /// `table`: of the warp; what its threads wrote to it is seen by all. The element of steps[i] for i <
  /// count, count <= kSelections, goes to slot `slot` + (place + i) mod kSelections.
  MM_DEVICE Selection(const Team& team, const Records& table, std::uint32_t slot, const device::Step* steps,
                      std::uint32_t count, std::uint32_t place)
      : team_(team),
        table_(table),
        slot_(slot),
        steps_(steps),
        count_(count),
        place_(place),
        first_(steps->index),
        last_((1u << steps->digit.count) - 1) {}

  /// For one of the instances, `item` < kItems.
  MM_DEVICE void run(unsigned item, const device::WordSource& exponent) const {
    std::uint32_t digit[kDigits];
    std::uint32_t slot[kDigits];
    MM_UNROLL
    for (unsigned d = 0; d < kDigits; ++d) {
      digit[d] = device::digit_value(steps_[number(d) < count_ ? number(d) : 0].digit, exponent);
      slot[d] = slot_ + (place_ + number(d)) % kSelections;
    }
    Fours next = load(item, 0);
    MM_ROLLED
    for (unsigned four = 0; four < kFours; ++four) {
      const Fours fours = next;
      next = load(item, four + 1 < kFours ? four + 1 : four);
      MM_UNROLL
      for (unsigned d = 0; d < kDigits; ++d) {
        if (kQuads * d >= count_) continue;
        const Four found = chosen(fours, digit[d]);
        if (number(d) < count_) record(item, slot[d]).store_global(four, found);
      }
    }
  }

 private:
  using Four = cuda::Chunk<Record::kFour>;
  struct Fours {
    Four of[kSets];
  };

  const Team& team_;
  const Records& table_;
  std::uint32_t slot_;
  const device::Step* steps_;
  std::uint32_t count_, place_;
  std::uint32_t first_, last_;  // of the elements: a slot, and the last one's number

  /// Of this thread: an element, or a step.
  MM_DEVICE unsigned number(unsigned set) const { return kQuads * set + team_.lane() / 4; }

  // As this thread's own, of the thread at its place in the instance's quad.
  MM_DEVICE Record record(unsigned item, std::uint32_t slot) const {
    const int behind = static_cast<int>(4 * (item % kQuads)) - static_cast<int>(team_.lane() / 4 * 4);
    return table_.at(slot, item / kQuads).of_neighbour(behind);
  }

  // Behind the last element it is read again: no digit is that of its number.
  MM_DEVICE Fours load(unsigned item, unsigned four) const {
    Fours fours;
    MM_UNROLL
    for (unsigned set = 0; set < kSets; ++set) {
      const unsigned element = number(set) < last_ ? number(set) : last_;
      fours.of[set] = record(item, first_ + element).load(four);
    }
    return fours;
  }

  MM_DEVICE Four chosen(const Fours& fours, std::uint32_t digit) const {
    const unsigned from = digit % kQuads * 4 + team_.lane() % 4;
    std::uint32_t mask[kSets];
    MM_UNROLL
    for (unsigned set = 0; set < kSets; ++set) {
      mask[set] = cuda::opaque(0 - static_cast<std::uint32_t>(digit / kQuads == set));
    }
    Four four;
    MM_UNROLL
    for (unsigned i = 0; i < Record::kFour; ++i) {
      std::uint32_t word = 0;
      MM_UNROLL
      for (unsigned set = 0; set < kSets; ++set)
        word |= team_.shuffle(fours.of[set].word[i], from) & mask[set];
      four.word[i] = word;
    }
    return four;
  }
};

}  // namespace manymod::rns
