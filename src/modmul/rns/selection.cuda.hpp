// SPDX-License-Identifier: Apache-2.0
// Constant-time table look-up: selects the table elements of many secret digits with one pass over the table.
//
// The record of an instance is spread over the four threads of its thread quad, in chunks of 4 words. Each
// thread reads a chunk of its position in the thread quad from every eighth element; so the eight thread
// quads of the warp together hold that chunk of up to 32 elements, four of them (a set each) in every thread.
// Then each thread quad takes one digit d: shuffles bring it, from thread quad d mod 8, its chunk of each of
// the four sets, and masks select set floor(d / 8). The words of the split channel quad are read for four
// instances at a time, one for each position in a thread quad.
//
// Addresses of loads and stores do not depend on digits. The source lanes of shuffles do; but the four
// threads of a thread quad always read from four lanes of different positions, and such shuffles take the
// same time whatever the digits are (docs/rns/kernels.md, "Constant-time selection").
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

/// Which of kSelectionEntries elements a thread takes. Digits below kSelectionEntries are packed several to a
/// word; a digit is stored times 4.
class Selector {
 public:
  static constexpr unsigned kBits = 8;
  static constexpr unsigned kPacked = 32 / kBits;  ///< digits in a word

  /// A digit at its position, < kPacked, in a word; words of digits are combined by bitwise or.
  MM_DEVICE static std::uint32_t packed(std::uint32_t digit, unsigned position) {
    return digit * 4 << kBits * position;
  }
  /// The selector of the digit at `position` in the word `packed`, for the calling thread.
  template <class Team>
  MM_DEVICE Selector(const Team& team, std::uint32_t packed, unsigned position)
      : source_lane_((packed >> kBits * position & 28) | team.lane() % 4),
        odd_(mask(packed, kBits * position + 5)),
        upper_(mask(packed, kBits * position + 6)) {}

  /// The lane of the warp from which to take the words: of thread quad digit mod 8, at the same position.
  MM_DEVICE unsigned source_lane() const { return source_lane_; }
  /// The word of set floor(digit / 8).
  MM_DEVICE std::uint32_t pick(const std::uint32_t (&set)[4]) const {
    return either(upper_, either(odd_, set[3], set[2]), either(odd_, set[1], set[0]));
  }

 private:
  unsigned source_lane_;
  std::uint32_t odd_, upper_;

  // All ones if the bit is 1, else 0.
  MM_DEVICE static std::uint32_t mask(std::uint32_t packed, unsigned bit) {
    return cuda::opaque(0 - (packed >> bit & 1));
  }
  MM_DEVICE static std::uint32_t either(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
    return (yes & mask) | (no & ~mask);
  }
};

/// One chunk of kSelectionEntries elements' records, spread over a warp: thread quad g holds it of elements
/// g, g + 8, .., a set for each.
template <class Team>
class CandidateChunks {
 public:
  static constexpr unsigned kThreadQuads = Record::kWarp / 4;
  static constexpr unsigned kSets = kSelectionEntries / kThreadQuads;
  using ElementChunk = cuda::Chunk<Record::kChunkWords>;

  /// The number of the element of which this thread has the chunk in a set; elements after `last` are
  /// replaced by it, so that nothing beyond the table is read.
  MM_DEVICE static std::uint32_t element(const Team& team, unsigned set, std::uint32_t last) {
    const std::uint32_t element = kThreadQuads * set + team.lane() / 4;
    return element < last ? element : last;
  }

  /// load_set(set) returns this thread's chunk of its element in the set.
  template <class LoadSet>
  MM_DEVICE explicit CandidateChunks(LoadSet load_set) {
    MM_UNROLL
    for (unsigned set = 0; set < kSets; ++set) sets_[set] = load_set(set);
  }

  /// This thread's chunk of the element that `selector` takes; other thread quads may take other elements.
  /// All threads of the warp call.
  MM_DEVICE ElementChunk chosen(const Team& team, const Selector& selector) const {
    std::uint32_t word[Record::kChunkWords][kSets];
    MM_UNROLL
    for (unsigned i = 0; i < Record::kChunkWords; ++i) {
      MM_UNROLL
      for (unsigned set = 0; set < kSets; ++set)
        word[i][set] = team.shuffle(sets_[set].word[i], selector.source_lane());
    }
    ElementChunk chunk;
    MM_UNROLL
    for (unsigned i = 0; i < Record::kChunkWords; ++i) chunk.word[i] = selector.pick(word[i]);
    return chunk;
  }

 private:
  ElementChunk sets_[kSets];
};

/// Selects from the table of a warp's instances, in records of kShape, for up to kSelections steps of a
/// program that take elements from the same table by digits of one exponent that differ only in where they
/// begin.
template <class Team, RecordShape kShape, unsigned kSelections>
class Selection {
  using Candidates = CandidateChunks<Team>;
  static constexpr unsigned kThreadQuads = Candidates::kThreadQuads;
  static constexpr unsigned kDigitsPerThread = kSelections / kThreadQuads;  // for each instance
  static constexpr unsigned kWords = kDigitsPerThread / Selector::kPacked;
  static constexpr unsigned kRounds = kThreadQuads / 4;
  // Chunk c of the records of the warp's eight thread quads is contiguous and cut into eight blocks, one for
  // each instance of a half; all chunks c follow each other. Behind them are the words of the split channel
  // quad, in blocks of four instances.
  static constexpr unsigned kBlock = 4 * Record::kChunkWords;
  static constexpr unsigned kWholeBlocks = kThreadQuads * (kShape.whole / Record::kChunkWords);
  static constexpr unsigned kBlocks = kWholeBlocks + kThreadQuads * kShape.split_quad / kBlock;
  static_assert(kBlocks == kWholeBlocks || kBlocks == kWholeBlocks + kRounds);

 public:
  /// Words from one slot to the next.
  static constexpr std::uint32_t kStride = 2 * Records<kShape>::kWords;

  /// `table`: the warp's; its threads have synchronised since they wrote to it. `steps`: the first of `count`
  /// <= kSelections steps. The element of steps[i] goes to slot `slot` + (first_step + i) mod kSelections.
  /// first_step: the number of steps[0] in its program.
  MM_DEVICE Selection(const Team& team, const Records<kShape>& table, std::uint32_t slot,
                      const gpu::Step* steps, std::uint32_t count, std::uint32_t first_step)
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
      to_[d] = (slot + (first_step + step_index(d)) % kSelections) * kStride;
    }
  }

  /// Selects for the eight instances of one half. exponent(i): the exponent of instance i < 8; threads of
  /// different positions call it for different i, all threads at the same time.
  template <class Exponent>
  MM_DEVICE void run(unsigned half, Exponent exponent) const {
    // This thread's digits of the instances t and t + 4, t its position in a thread quad.
    std::uint32_t digits[kRounds][kWords];
    MM_UNROLL
    for (unsigned round = 0; round < kRounds; ++round) {
      read_digits(digits[round], exponent(4 * round + team_.lane() % 4));
    }
    std::uint32_t* at = words_ + std::size_t{half} * Records<kShape>::kWords;
    Candidates even = load(at);
    Candidates odd = load(at + kBlock);
    MM_ROLLED
    for (unsigned block = 0; block < kBlocks; block += 2) {
      choose(even, at, digits, block);
      even = load(block + 2 < kBlocks ? at + 2 * kBlock : at);
      choose(odd, at + kBlock, digits, block + 1);
      odd = load(block + 3 < kBlocks ? at + 3 * kBlock : at);
      at += 2 * kBlock;
    }
  }

 private:
  const Team& team_;
  std::uint32_t* words_;  // the table at the first chunk of this thread's position in a thread quad
  std::uint32_t count_, stride_, bits_;
  std::uint32_t first_[kDigitsPerThread];  // where this thread's digits begin in the exponent
  // The offsets, in words, of the elements that this thread reads and writes.
  std::uint32_t from_[Candidates::kSets], to_[kDigitsPerThread];

  /// The step of this thread's digit number d.
  MM_DEVICE unsigned step_index(unsigned d) const { return kThreadQuads * d + team_.lane() / 4; }

  /// Loads the block at `at`, relative to the first element, of all elements.
  MM_DEVICE Candidates load(const std::uint32_t* at) const {
    return Candidates([&](unsigned set) { return cuda::load_block(at + from_[set]); });
  }

  /// Reads this thread's digits of one exponent, packed.
  MM_DEVICE void read_digits(std::uint32_t (&digits)[kWords], const WordSource& exponent) const {
    if (stride_ == 1) {
      pack(digits, [&](unsigned d) { return gpu::window_value(first_[d], bits_, exponent); });
    } else {
      pack(digits, [&](unsigned d) { return gpu::digit_value({0, first_[d], stride_, bits_}, exponent); });
    }
  }
  // Packs value(d) of all digits d of this thread.
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

  // Stores the block `block` of the elements that the digits take. `digits_of_round`: the digits of instances
  // 0 .. 3 and 4 .. 7.
  MM_DEVICE void choose(const Candidates& candidates, std::uint32_t* at,
                        const std::uint32_t (&digits_of_round)[kRounds][kWords], unsigned block) const {
    const bool is_whole = kBlocks == kWholeBlocks || block < kWholeBlocks;
    const bool later = is_whole ? block % kThreadQuads >= 4 : block != kWholeBlocks;
    std::uint32_t digits[kWords];
    MM_UNROLL
    for (unsigned word = 0; word < kWords; ++word) {
      digits[word] = team_.shuffle(later ? digits_of_round[1][word] : digits_of_round[0][word],
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

/// Selects from elements that all instances share, in records of kShape. Each thread quad selects by the
/// digits of its two instances.
template <class Team, RecordShape kShape>
class SharedSelection {
  using Candidates = CandidateChunks<Team>;
  static constexpr unsigned kWholeChunks = kShape.whole / Record::kChunkWords;
  static_assert(kShape.split_quad == 0 || kShape.split_quad == Record::kChunkWords);

 public:
  /// Selects among elements first .. first + count - 1 of `shared`, which all threads read as if they were in
  /// lane `lane % 4`: every thread quad reads the records of the first one.
  MM_DEVICE SharedSelection(const Team& team, const Records<kShape>& shared, std::uint32_t first,
                            std::uint32_t count)
      : team_(team), shared_(shared), first_(first), count_(count) {}

  /// Stores elements first + digit[half] to the records of the instances. On input: digit[half] < count.
  MM_DEVICE void run(const RecordPair& to, const std::uint32_t (&digit)[2]) const {
    // The words of the split channel quad are handled as one chunk more.
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

  // Loads a chunk of elements first_ + begin and those after it.
  MM_DEVICE Candidates load(std::uint32_t begin, unsigned chunk) const {
    return Candidates([&](unsigned set) {
      const std::uint32_t element = begin + Candidates::element(team_, set, count_ - 1 - begin);
      // All threads of a thread quad load the same words of the split channel quad: those of the table's
      // first instance.
      if (kShape.split_quad > 0 && chunk == kWholeChunks) {
        return cuda::load_chunk<Record::kChunkWords>(shared_.record(first_ + element, 0) +
                                                     Records<kShape>::kSplitAt);
      }
      return shared_.at(first_ + element, 0).load(chunk);
    });
  }

  // Stores the thread's words of the split channel quad: of its split_instance(), those of its channel.
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

  // Adds the words of element `digit` to `found` if it is among the candidates; nothing otherwise.
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
