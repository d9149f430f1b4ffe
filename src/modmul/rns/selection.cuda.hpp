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

/// The fours of one place in kChoices elements' records, as a warp reads them: each quad those of every
/// eighth element.
template <class Team>
class Choices {
 public:
  static constexpr unsigned kQuads = Record::kWarp / 4;
  using Four = cuda::Chunk<Record::kFour>;

  /// `of_element`: the records, at this thread's place in a quad. Behind element `last` it is read again.
  template <class OfElement>
  MM_DEVICE Choices(const Team& team, std::uint32_t last, unsigned four, OfElement of_element) {
    MM_UNROLL
    for (unsigned set = 0; set < kSets; ++set) {
      const std::uint32_t element = kQuads * set + team.lane() / 4;
      of_[set] = of_element(element < last ? element : last).load(four);
    }
  }

  /// This thread's words of element `digit`, which may differ between quads; 0 for a digit of kChoices or
  /// more.
  MM_DEVICE Four chosen(const Team& team, std::uint32_t digit) const {
    const unsigned from = digit % kQuads * 4 + team.lane() % 4;
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
      for (unsigned set = 0; set < kSets; ++set) word |= team.shuffle(of_[set].word[i], from) & mask[set];
      four.word[i] = word;
    }
    return four;
  }

 private:
  static constexpr unsigned kSets = kChoices / kQuads;
  Four of_[kSets];
};

/// The elements of a warp's instances, in records of kFours fours, for up to kSelections steps that choose
/// from the same elements by digits of the same exponent.
template <class Team, unsigned kFours, unsigned kSelections>
class Selection {
  using OfFour = Choices<Team>;
  static constexpr unsigned kQuads = OfFour::kQuads;
  static constexpr unsigned kDigits = kSelections / kQuads;  // that a thread chooses for

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
    OfFour next = load(item, 0);
    MM_ROLLED
    for (unsigned four = 0; four < kFours; ++four) {
      const OfFour choices = next;
      next = load(item, four + 1 < kFours ? four + 1 : four);
      MM_UNROLL
      for (unsigned d = 0; d < kDigits; ++d) {
        if (kQuads * d >= count_) continue;
        const cuda::Chunk<Record::kFour> found = choices.chosen(team_, digit[d]);
        if (number(d) < count_) record(item, slot[d]).store_global(four, found);
      }
    }
  }

 private:
  const Team& team_;
  const Records& table_;
  std::uint32_t slot_;
  const device::Step* steps_;
  std::uint32_t count_, place_;
  std::uint32_t first_, last_;  // of the elements: a slot, and the last one's number

  /// Of this thread's digit: a step.
  MM_DEVICE unsigned number(unsigned d) const { return kQuads * d + team_.lane() / 4; }

  // As this thread's own, of the thread at its place in the instance's quad.
  MM_DEVICE Record record(unsigned item, std::uint32_t slot) const {
    const int behind = static_cast<int>(4 * (item % kQuads)) - static_cast<int>(team_.lane() / 4 * 4);
    return table_.at(slot, item / kQuads).of_neighbour(behind);
  }

  MM_DEVICE OfFour load(unsigned item, unsigned four) const {
    return OfFour(team_, last_, four, [&](std::uint32_t element) { return record(item, first_ + element); });
  }
};

/// Elements that all instances share, in records of kFours fours: each quad chooses by the digits of its two.
template <class Team, unsigned kFours>
class SharedSelection {
  using OfFour = Choices<Team>;

 public:
  /// Of elements first .. first + count - 1. `shared`: at this thread's place in a quad.
  MM_DEVICE SharedSelection(const Team& team, const Records& shared, std::uint32_t first, std::uint32_t count)
      : team_(team), shared_(shared), first_(first), count_(count) {}

  /// Elements first + digit[half] to the instances' records.
  MM_DEVICE void run(const RecordPair& to, const std::uint32_t (&digit)[2]) const {
    OfFour next = load(0, 0);
    MM_ROLLED
    for (unsigned four = 0; four < kFours; ++four) {
      cuda::Chunk<Record::kFour> found[2] = {};
      MM_ROLLED
      for (std::uint32_t begin = 0; begin < count_; begin += kChoices) {
        const OfFour choices = next;
        next = begin + kChoices < count_ ? load(begin + kChoices, four)
                                         : load(0, four + 1 < kFours ? four + 1 : four);
        MM_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
          const cuda::Chunk<Record::kFour> part = choices.chosen(team_, digit[half] - begin);
          MM_UNROLL
          for (unsigned i = 0; i < Record::kFour; ++i) found[half].word[i] |= part.word[i];
        }
      }
      to[0].store_global(four, found[0]);
      to[1].store_global(four, found[1]);
    }
  }

 private:
  const Team& team_;
  const Records& shared_;
  std::uint32_t first_, count_;

  MM_DEVICE OfFour load(std::uint32_t begin, unsigned four) const {
    return OfFour(team_, count_ - 1 - begin, four,
                  [&](std::uint32_t element) { return shared_.at(first_ + begin + element, 0); });
  }
};

}  // namespace manymod::rns
