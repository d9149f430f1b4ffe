// SPDX-License-Identifier: Apache-2.0
// Runs a program (program.hpp) for one item by one group of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/memory.cuda.hpp"
#include "arch/cuda/opaque.cuda.hpp"
#include "core/portable.hpp"
#include "gpu/program/digit_value.cuda.hpp"
#include "gpu/program/multiplier.cuda.hpp"
#include "gpu/program/program.hpp"
#include "repr/word_memory.hpp"

namespace manymod::gpu {

/// The table of a launch. For j a multiple of kChunk, the lane words j .. j + kChunk - 1 of slot e of thread
/// i of the launch are at words[(e lane_words + j) threads + i kChunk ..]: lanes read chunks of up to 16
/// bytes, and neighbouring lanes read neighbouring chunks. Where c lanes hold the same part of an element
/// (copies_of), element c e + k takes the place of thread k of the c in slot e. All c lanes write the same
/// words, so each may read them without synchronisation. Between two writes of a slot there is always a
/// multiplication, whose barriers separate them.
struct Table {
  std::uint32_t* words = nullptr;  ///< aligned to 16 bytes
  std::uint32_t threads = 1;
  std::uint32_t thread = 0;
};

template <ProgramMultiplier Multiplier>
class Interpreter {
  using Element = typename Multiplier::Element;
  static constexpr unsigned kLaneWords = Multiplier::kLaneWords;
  static constexpr unsigned kCopies = copies_of<Multiplier>();
  // Table elements that a lane loads together. A table has at least 2; of lanes that share the elements see
  // nearest().
  static constexpr unsigned kScanned = kCopies > 1 ? 4 : kLaneWords <= 16 ? 2 : 1;

 public:
  static constexpr unsigned kChunk = kLaneWords % 4 == 0 ? 4 : kLaneWords % 2 == 0 ? 2 : 1;  ///< see Table

  /// On input: item < job.count.
  template <class Group>
    requires MultiplierOf<Multiplier, Group>
  MM_DEVICE Interpreter(const Group& group, const LaneMemory& memory, const ProgramJob& job,
                        const Table& table, std::uint32_t item)
      : multiplier_(multiplier(group, memory, job, item)),
        job_(job),
        table_(elements(table.words, table.threads, table.thread)),
        comb_(elements(job.comb, job.comb_threads, group.lane())),
        copy_(kCopies > 1 ? group.lane() % kCopies : 0),
        item_(item) {}

  /// Runs the steps. `keep`: whether the result is stored; false for a group that repeats another group's
  /// item.
  MM_DEVICE void run(bool keep) {
    Element x = multiplier_.from_words(WordSource{});
    MM_ROLLED
    for (std::uint32_t s = 0; s < job_.step_count; ++s) {
      const Step step = job_.steps[s];
      MM_ROLLED
      for (std::uint32_t i = 0; i < step.squarings; ++i) x = multiplier_.sqr(x);
      if (step.source != Source::none) {
        const Element y = read(step);
        if (step.load) x = y;
        MM_ROLLED
        for (std::uint32_t i = 0; i < step.multiplications; ++i) x = multiplier_.mul(x, y);
      }
      if (step.store) write(step.slot, x);
    }
    const std::size_t at = static_cast<std::size_t>(item_) * job_.result_width;
    multiplier_.to_words(WordSink{job_.result + at, keep ? job_.result_width : 0}, x);
    if constexpr (RefusingMultiplier<Multiplier>) {
      if (keep && job_.refused != nullptr) job_.refused[item_] = multiplier_.refused() ? 1 : 0;
    }
  }

 private:
  template <class Group>
  MM_DEVICE static Multiplier multiplier(const Group& group, const LaneMemory& memory, const ProgramJob& job,
                                         std::uint32_t item) {
    if constexpr (MultiplierWithConstants<Multiplier, Group>) {
      return Multiplier(group, memory, job.modulus.at(item), job.constants);
    } else {
      return Multiplier(group, memory, job.modulus.at(item));
    }
  }

  // The words of a table's elements that belong to this lane.
  template <class Word>
  struct Elements {
    Word* words;               // of element 0
    std::size_t chunk_step;    // words from one chunk of an element to the next
    std::size_t element_step;  // words from one element to the next

    MM_DEVICE Word* chunk(std::uint32_t element, unsigned j) const {
      return words + element / kCopies * element_step + element % kCopies * kChunk + j / kChunk * chunk_step;
    }
  };

  template <class Word>
  MM_DEVICE static Elements<Word> elements(Word* words, std::uint32_t threads, std::uint32_t thread) {
    return {words == nullptr ? nullptr : words + std::size_t{thread} / kCopies * kCopies * kChunk,
            std::size_t{threads} * kChunk, std::size_t{threads} * kLaneWords};
  }

  Multiplier multiplier_;
  const ProgramJob& job_;
  Elements<std::uint32_t> table_;
  Elements<const std::uint32_t> comb_;
  std::uint32_t copy_;  // which of the lanes that hold the same part this one is
  std::uint32_t item_;

  MM_DEVICE Element read(const Step& step) const {
    switch (step.source) {
      case Source::comb:
        return chosen(comb_, step.index, step.digit);
      case Source::digit:
        return chosen(table_, step.index, step.digit);
      case Source::slot:
        return element(table_, step.index);
      default:
        return multiplier_.from_words(number(step));
    }
  }

  MM_DEVICE WordSource number(const Step& step) const {
    if (step.source == Source::one) return {nullptr, 0, 1};
    return step.source == Source::start ? job_.start.at(item_) : job_.operands[step.index].at(item_);
  }

  template <class Word>
  MM_DEVICE static Element element(const Elements<Word>& from, std::uint32_t index) {
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kLaneWords; j += kChunk) {
      const cuda::Chunk<kChunk> chunk = cuda::load_chunk<kChunk>(from.chunk(index, j));
      MM_UNROLL
      for (unsigned i = 0; i < kChunk; ++i) Multiplier::set_lane_word(r, j + i, chunk.word[i]);
    }
    return r;
  }

  MM_DEVICE void write(std::uint32_t index, const Element& a) const {
    MM_UNROLL
    for (unsigned j = 0; j < kLaneWords; j += kChunk) {
      cuda::Chunk<kChunk> chunk;
      MM_UNROLL
      for (unsigned i = 0; i < kChunk; ++i) chunk.word[i] = Multiplier::lane_word(a, j + i);
      cuda::store_chunk<kChunk>(table_.chunk(index, j), chunk);
    }
  }

  /// min(e, last element of the digit): steps read as many elements for short digits as for long ones.
  MM_DEVICE static std::uint32_t nearest(std::uint32_t e, const Digit& digit) {
    const std::uint32_t last = (1u << digit.count) - 1;
    return e < last ? e : last;
  }

  /// Element `first` + the digit. If job.scan, in constant time: reads all elements that the digit may
  /// select, at addresses that do not depend on the digit. Lanes that hold the same part share the elements.
  template <class Word>
  MM_DEVICE Element chosen(const Elements<Word>& from, std::uint32_t first, const Digit& digit) const {
    const std::uint32_t wanted = digit_value(digit, job_.operands[digit.exponent].at(item_));
    if (!job_.scan) return element(from, first + wanted);
    std::uint32_t sum[kLaneWords];
    MM_UNROLL
    for (unsigned j = 0; j < kLaneWords; ++j) sum[j] = 0;
    // kScanned at a time, so that their loads overlap.
    MM_ROLLED
    for (std::uint32_t next = copy_; next < (1u << digit.count); next += kScanned * kCopies) {
      MM_UNROLL
      for (std::uint32_t i = 0; i < kScanned; ++i) {
        const std::uint32_t e = next + i * kCopies;
        const std::uint32_t mask = cuda::opaque(0 - static_cast<std::uint32_t>(e == wanted));
        const std::uint32_t at = first + (kCopies == 1 ? e : nearest(e, digit));
        MM_UNROLL
        for (unsigned j = 0; j < kLaneWords; j += kChunk) {
          const cuda::Chunk<kChunk> chunk = cuda::load_chunk<kChunk>(from.chunk(at, j));
          MM_UNROLL
          for (unsigned k = 0; k < kChunk; ++k) sum[j + k] |= chunk.word[k] & mask;
        }
      }
    }
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kLaneWords; ++j) {
      if constexpr (kCopies > 1) sum[j] = multiplier_.joined_copies(sum[j]);
      Multiplier::set_lane_word(r, j, sum[j]);
    }
    return r;
  }
};

}  // namespace manymod::gpu
