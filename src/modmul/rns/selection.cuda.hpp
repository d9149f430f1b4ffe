// SPDX-License-Identifier: Apache-2.0
// Table elements of secret digits, for many digits from one reading of the table.
//
// An element's words of one instance are the fours of a quad of threads. A thread reads those of its place in
// the quad, of every eighth element, and the warp so has all elements' at once. It then is the thread of one
// digit: a shuffle brings it the words of the element eight times something plus d mod 8 from each of the
// threads' sets, and masks choose the set. Words of split fours are read for four instances at a time, each
// place of a quad those of one. What is read and written, and where, does not depend on digits.
// The threads that shuffles read do; the four of a quad always read four, one at each place of a quad, and so
// shuffles take the same time whatever the digits are (docs/rns.md, "Class secret").
#pragma once

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "core/portable.hpp"
#include "gpu/program/digit_value.cuda.hpp"
#include "gpu/program/program.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/record.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::rns {

/// Which of kChoices elements' words a thread asks for: digits below kChoices, as they are packed.
class Selector {
 public:
  static constexpr unsigned kBits = 8;
  static constexpr unsigned kPacked = 32 / kBits;  ///< in a word

  /// Those of digit `number` of kPacked, to be joined by bits.
  MM_DEVICE static std::uint32_t packed(std::uint32_t digit, unsigned step_index) {
    return digit * 4 << kBits * step_index;
  }
  template <class Team>
  MM_DEVICE Selector(const Team& team, std::uint32_t packed, unsigned step_index)
      : from_((packed >> kBits * step_index & 28) | team.lane() % 4),
        odd_(mask(packed, kBits * step_index + 5)),
        upper_(mask(packed, kBits * step_index + 6)) {}

  /// The warp's thread that has them, in the set..
  MM_DEVICE unsigned from() const { return from_; }
  /// ..of four that masks choose.
  MM_DEVICE std::uint32_t of(const std::uint32_t (&set)[4]) const {
    return either(upper_, either(odd_, set[3], set[2]), either(odd_, set[1], set[0]));
  }

 private:
  unsigned from_;
  std::uint32_t odd_, upper_;

  MM_DEVICE static std::uint32_t mask(std::uint32_t packed, unsigned bit) {
    return cuda::opaque(0 - (packed >> bit & 1));
  }
  MM_DEVICE static std::uint32_t either(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
    return (yes & mask) | (no & ~mask);
  }
};

/// The fours of one place in kChoices elements' records, as a warp reads them: each quad those of every
/// eighth element.
template <class Team>
class CandidateChunks {
 public:
  static constexpr unsigned kThreadQuads = Record::kWarp / 4;
  static constexpr unsigned kSets = kSelectionEntries / kThreadQuads;
  using ElementChunk = cuda::Chunk<Record::kChunkWords>;

  /// The element whose four this thread has in a set, of those up to `last`; behind it is read again.
  MM_DEVICE static std::uint32_t element(const Team& team, unsigned set, std::uint32_t last) {
    const std::uint32_t element = kThreadQuads * set + team.lane() / 4;
    return element < last ? element : last;
  }

  /// `of_set`: the four of this thread's element in a set.
  template <class LoadSet>
  MM_DEVICE explicit CandidateChunks(LoadSet load_set) {
    MM_UNROLL
    for (unsigned set = 0; set < kSets; ++set) of_[set] = load_set(set);
  }

  /// This thread's words of the element that it chooses; other quads may choose others.
  MM_DEVICE ElementChunk chosen(const Team& team, const Selector& selector) const {
    std::uint32_t word[Record::kChunkWords][kSets];
    MM_UNROLL
    for (unsigned i = 0; i < Record::kChunkWords; ++i) {
      MM_UNROLL
      for (unsigned set = 0; set < kSets; ++set)
        word[i][set] = team.shuffle(of_[set].word[i], selector.from());
    }
    ElementChunk chunk;
    MM_UNROLL
    for (unsigned i = 0; i < Record::kChunkWords; ++i) chunk.word[i] = selector.of(word[i]);
    return chunk;
  }

 private:
  ElementChunk of_[kSets];
};

/// The elements of a warp's instances, in records of kShape, for up to kSelections steps that choose
/// from the same elements by digits of the same exponent that differ in where they begin.
template <class Team, RecordShape kShape, unsigned kSelections>
class Selection {
  using Candidates = CandidateChunks<Team>;
  static constexpr unsigned kThreadQuads = Candidates::kThreadQuads;
  static constexpr unsigned kDigitsPerThread = kSelections / kThreadQuads;  // that a thread chooses for
  static constexpr unsigned kWords = kDigitsPerThread / Selector::kPacked;
  static constexpr unsigned kRounds = kThreadQuads / 4;
  // The quads' fours of one place in a record are neighbours, and the places are: eight blocks for each of
  // their fours. Behind them are the words of split fours, of four instances a block.
  static constexpr unsigned kBlock = 4 * Record::kChunkWords;
  static constexpr unsigned kWholeBlocks = kThreadQuads * (kShape.whole / Record::kChunkWords);
  static constexpr unsigned kBlocks = kWholeBlocks + kThreadQuads * kShape.split_quad / kBlock;
  static_assert(kBlocks == kWholeBlocks || kBlocks == kWholeBlocks + kRounds);

 public:
  /// Words from an element's records to the next one's.
  static constexpr std::uint32_t kStride = 2 * Records<kShape>::kWords;

  /// `table`: of the warp; what its threads wrote to it is seen by all. The element of steps[i] for i <
  /// count, count <= kSelections, goes to slot `slot` + (place + i) mod kSelections.
  MM_DEVICE Selection(const Team& team, const Records<kShape>& table, std::uint32_t slot,
                      const gpu::Step* steps, std::uint32_t count, std::uint32_t place)
      : team_(team),
        words_(table.words() + team.lane() % 4 * Record::kChunkWords),
        count_(count),
        stride_(steps->digit.stride),
        bits_(steps->digit.count) {
    const std::uint32_t last = (1u << bits_) - 1;
    MM_UNROLL
    for (unsigned set = 0; set < Candidates::kSets; ++set) {
      from_[set] = (steps->index + Candidates::element(team, set, last)) * kStride;
    }
    MM_UNROLL
    for (unsigned d = 0; d < kDigitsPerThread; ++d) {
      first_[d] = steps[step_index(d) < count ? step_index(d) : 0].digit.first;
      to_[d] = (slot + (place + step_index(d)) % kSelections) * kStride;
    }
  }

  /// For the instances of one half. exponent(i): of the i-th of them, i < 8; threads ask for different ones,
  /// all of them at the same time.
  template <class Exponent>
  MM_DEVICE void run(unsigned half, Exponent exponent) const {
    // A thread's digits of the instance at its place in a quad, and of the one four behind.
    std::uint32_t digits[kRounds][kWords];
    MM_UNROLL
    for (unsigned round = 0; round < kRounds; ++round) {
      read_digits(digits[round], exponent(4 * round + team_.lane() % 4));
    }
    std::uint32_t* at = words_ + std::size_t{half} * Records<kShape>::kWords;
    Candidates one = load(at);
    Candidates two = load(at + kBlock);
    MM_ROLLED
    for (unsigned block = 0; block < kBlocks; block += 2) {
      choose(one, at, digits, block);
      one = load(block + 2 < kBlocks ? at + 2 * kBlock : at);
      choose(two, at + kBlock, digits, block + 1);
      two = load(block + 3 < kBlocks ? at + 3 * kBlock : at);
      at += 2 * kBlock;
    }
  }

 private:
  const Team& team_;
  std::uint32_t* words_;  // the first instance's, at this thread's place in a quad
  std::uint32_t count_, stride_, bits_;
  std::uint32_t first_[kDigitsPerThread];  // of this thread's digits
  std::uint32_t from_[Candidates::kSets],
      to_[kDigitsPerThread];  // words to the elements that it reads and writes

  /// Of this thread's digit: a step.
  MM_DEVICE unsigned step_index(unsigned d) const { return kThreadQuads * d + team_.lane() / 4; }

  MM_DEVICE Candidates load(const std::uint32_t* at) const {
    return Candidates([&](unsigned set) { return cuda::load_block(at + from_[set]); });
  }

  MM_DEVICE void read_digits(std::uint32_t (&digits)[kWords], const WordSource& exponent) const {
    if (stride_ == 1) {
      pack(digits, [&](unsigned d) { return gpu::window_value(first_[d], bits_, exponent); });
    } else {
      pack(digits, [&](unsigned d) { return gpu::digit_value({0, first_[d], stride_, bits_}, exponent); });
    }
  }
  template <class Value>
  MM_DEVICE static void pack(std::uint32_t (&digits)[kWords], Value value) {
    MM_UNROLL
    for (unsigned word = 0; word < kWords; ++word) {
      digits[word] = 0;
      MM_UNROLL
      for (unsigned i = 0; i < Selector::kPacked; ++i) {
        digits[word] |= Selector::packed(value(Selector::kPacked * word + i), i);
      }
    }
  }

  // The elements' words of a block, in `choices`, to where they belong, by the digits of instances 0 .. 3 and
  // 4 .. 7.
  MM_DEVICE void choose(const Candidates& candidates, std::uint32_t* at,
                        const std::uint32_t (&of)[kRounds][kWords], unsigned block) const {
    const bool is_whole = kBlocks == kWholeBlocks || block < kWholeBlocks;
    const bool later = is_whole ? block % kThreadQuads >= 4 : block != kWholeBlocks;
    std::uint32_t digits[kWords];
    MM_UNROLL
    for (unsigned word = 0; word < kWords; ++word) {
      digits[word] = team_.shuffle(later ? of[1][word] : of[0][word],
                                   is_whole ? team_.lane() / 4 * 4 + block % 4 : team_.lane());
    }
    MM_UNROLL
    for (unsigned d = 0; d < kDigitsPerThread; ++d) {
      if (kThreadQuads * d >= count_) continue;
      const Selector selector(team_, digits[d / Selector::kPacked], d % Selector::kPacked);
      cuda::store_global_if(step_index(d) < count_, at + to_[d], candidates.chosen(team_, selector));
    }
  }
};

/// Elements that all instances share, in records of kShape: each quad chooses by the digits of its two.
template <class Team, RecordShape kShape>
class SharedSelection {
  using Candidates = CandidateChunks<Team>;
  static constexpr unsigned kWholeChunks = kShape.whole / Record::kChunkWords;
  static_assert(kShape.split_quad == 0 || kShape.split_quad == Record::kChunkWords);

 public:
  /// Of elements first .. first + count - 1. `shared`: at this thread's place in a quad.
  MM_DEVICE SharedSelection(const Team& team, const Records<kShape>& shared, std::uint32_t first,
                            std::uint32_t count)
      : team_(team), shared_(shared), first_(first), count_(count) {}

  /// Elements first + digit[half] to the instances' records.
  MM_DEVICE void run(const RecordPair& to, const std::uint32_t (&digit)[2]) const {
    // The words of a split four are one chunk more.
    constexpr unsigned kChunks = kWholeChunks + kShape.split_quad / Record::kChunkWords;
    Candidates next = load(0, 0);
    MM_ROLLED
    for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
      cuda::Chunk<Record::kChunkWords> found[2] = {};
      MM_ROLLED
      for (std::uint32_t begin = 0; begin < count_; begin += kSelectionEntries) {
        const Candidates candidates = next;
        next = begin + kSelectionEntries < count_ ? load(begin + kSelectionEntries, chunk)
                                                  : load(0, chunk + 1 < kChunks ? chunk + 1 : chunk);
        MM_UNROLL
        for (unsigned half = 0; half < 2; ++half) add(found[half], candidates, digit[half] - begin);
      }
      if (kWholeChunks == kChunks || chunk < kWholeChunks) {
        to[0].store_global(chunk, found[0]);
        to[1].store_global(chunk, found[1]);
      } else {
        store_split_quad(to.split_quad, found);
      }
    }
  }

 private:
  const Team& team_;
  const Records<kShape>& shared_;
  std::uint32_t first_, count_;

  MM_DEVICE Candidates load(std::uint32_t begin, unsigned chunk) const {
    return Candidates([&](unsigned set) {
      const std::uint32_t element = begin + Candidates::element(team_, set, count_ - 1 - begin);
      // All threads of a quad take the same words of a split four: those of the first instance.
      if (kShape.split_quad > 0 && chunk == kWholeChunks) {
        return cuda::load_chunk<Record::kChunkWords>(shared_.record(first_ + element, 0) +
                                                     Records<kShape>::kSplitAt);
      }
      return shared_.at(first_ + element, 0).load(chunk);
    });
  }

  // Of the thread's own instance the words of its own channel.
  MM_DEVICE void store_split_quad(std::uint32_t* to,
                                  const cuda::Chunk<Record::kChunkWords> (&found)[2]) const {
    const bool second = split_instance(team_.lane()) != 0, odd = team_.lane() % 2 != 0;
    cuda::Chunk<2> two;
    MM_UNROLL
    for (unsigned part = 0; part < 2; ++part) {
      const std::uint32_t first = odd ? found[0].word[2 + part] : found[0].word[part];
      const std::uint32_t other = odd ? found[1].word[2 + part] : found[1].word[part];
      two.word[part] = second ? other : first;
    }
    cuda::store_chunk<2>(to, two);
  }

  // The words of element `digit`, unless it is not among the choices.
  MM_DEVICE void add(cuda::Chunk<Record::kChunkWords>& found, const Candidates& candidates,
                     std::uint32_t digit) const {
    const std::uint32_t among = cuda::opaque(0 - static_cast<std::uint32_t>(digit < kSelectionEntries));
    const Selector selector(team_, Selector::packed(digit % kSelectionEntries, 0), 0);
    const cuda::Chunk<Record::kChunkWords> chunk = candidates.chosen(team_, selector);
    MM_UNROLL
    for (unsigned i = 0; i < Record::kChunkWords; ++i) found.word[i] |= chunk.word[i] & among;
  }
};

}  // namespace manymod::rns
