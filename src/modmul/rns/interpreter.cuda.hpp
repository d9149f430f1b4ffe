// SPDX-License-Identifier: Apache-2.0
// Runs a program (gpu/program/program.hpp) for the 16 items of each warp of a team. Everything is
// constant-time in the operands if the job's `scan` is set; otherwise addresses of table look-ups depend on
// digits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/memory.cuda.hpp"
#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/uniform.cuda.hpp"
#include "core/portable.hpp"
#include "gpu/program/digit_value.cuda.hpp"
#include "gpu/program/program.hpp"
#include "modmul/rns/conversion.cuda.hpp"
#include "modmul/rns/montgomery.cuda.hpp"
#include "modmul/rns/record.cuda.hpp"
#include "modmul/rns/selection.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::rns {

/// A thread's two items, `first` and `first` + 8, of `count`. An item that does not exist is replaced by the
/// last one, so that every thread has work.
struct ItemPair {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  /// Whether the item exists, so that its result is stored.
  MM_DEVICE bool exists(unsigned half) const { return item(half) < count; }
  /// The item to compute.
  MM_DEVICE std::uint32_t index(unsigned half) const { return exists(half) ? item(half) : count - 1; }

 private:
  // Opaque, so that it is computed where it is needed: if the compiler kept indices, they would take
  // registers from the multiplications.
  MM_DEVICE std::uint32_t item(unsigned half) const { return cuda::opaque(first) + 8 * half; }
};

/// The interpreter of one form for one warp of a team.
template <class Team, Form kForm>
class Interpreter {
  static constexpr RecordShape kRecord = kForm.element_record();
  static constexpr unsigned kChunks = kRecord.whole / Record::kChunkWords;
  using Elements = Records<kRecord>;
  // Chunks of a record that are loaded together when a table is scanned.
  static constexpr unsigned kChunksInFlight = 8;
  // The stride by which groups of warps are staggered. It is coprime to kSelections, so that among
  // kSelections groups no two select at the same time.
  static constexpr std::uint32_t kStagger = 11;
  static constexpr unsigned kSelectedSlot = kForm.kernel_slots();
  static constexpr unsigned kSelections = kForm.selections();
  using Select = Selection<Team, kRecord, kSelections>;

 public:
  using Number = typename Montgomery<Team, kForm>::Number;
  using Constants = Bases<Team, kForm.channels, kForm.words>;

  /// The number of slots of a warp's table.
  MM_DEVICE static std::uint32_t slots(const gpu::ProgramJob& job) {
    return job.slots + kForm.kernel_slots() + (job.scan ? kSelections : 0);
  }

  /// `warp`: the number of the warp whose part of the job's table this is. `shared`: words in shared memory
  /// of all the block's warps, of which this one is number `warp_of_block`. The constants of the moduli are
  /// there or in the table, as the form says.
  MM_DEVICE Interpreter(const Team& team, const Constants& bases, const gpu::ProgramJob& job,
                        std::uint32_t warp, std::uint32_t* shared, std::uint32_t warp_of_block,
                        const ItemPair& items)
      : team_(team),
        job_(job),
        items_(items),
        table_(Elements::of_warp(job.table, warp, slots(job), team.lane())),
        shared_(shared + std::size_t{warp_of_block} * Record::kWarp * kForm.shared_words()),
        modulus_(kForm.moduli_in_shared_memory ? in_shared<kForm.modulus_record()>(0)
                                               : kernel_records(kForm.modulus_slot())),
        comb_(const_cast<std::uint32_t*>(job.comb), team.lane() % 4),
        conversion_(team, bases, static_cast<const std::byte*>(job.constants)),
        montgomery_(team, bases, modulus_) {}

  /// Runs a piece of the program. `group`: the number of the team. Teams are staggered, so that while some
  /// wait for the memory accesses of a selection, others multiply.
  MM_DEVICE void run(std::uint32_t group, const gpu::Piece& piece) {
    if constexpr (!kForm.one_modulus) set_up();
    Number x(kernel_records(Form::kElementSlot));
    const std::uint32_t begin = cuda::warp_uniform(piece.begin);
    if (begin > 0) load_kept(x);
    // The elements of steps before `selected` have been selected. The first selection takes `most` <=
    // kSelections steps, which staggers the teams.
    std::uint32_t selected = 0, most = 1 + group * kStagger % kSelections;
    MM_ROLLED
    for (std::uint32_t s = begin; s < job_.step_count; ++s) {
      if (job_.turns && s == end_of(piece)) break;
      const gpu::Step step = job_.steps[s];
      if (s >= selected && is_selectable(step)) {
        selected = s + select(s, most);
        most = kSelections;
      }
      run_step(x, step, s);
      if (step.store) store(x, step.slot);
    }
    if (job_.turns && end_of(piece) < job_.step_count) {
      store(x, kept_slot());
    } else {
      finish(x);
    }
  }

 private:
  const Team& team_;
  const gpu::ProgramJob& job_;
  ItemPair items_;
  Elements table_;
  std::uint32_t* shared_;
  RecordPair modulus_;
  Elements comb_;
  Conversion<Team, kForm> conversion_;
  Montgomery<Team, kForm> montgomery_;

  // A pair of records in shared memory, behind `at` words of each thread. They lie so that the compiler
  // reaches all of them from a single address with constant offsets.
  template <RecordShape kShape>
  MM_DEVICE RecordPair in_shared(unsigned at) const {
    const Record first{shared_ + std::size_t{Record::kWarp} * at + team_.lane() * Record::kChunkWords};
    const Record second{first.at(kShape.whole / Record::kChunkWords)};
    return {{first, second}, second.at(kShape.whole / Record::kChunkWords)};
  }
  // The records of one of the kernel's own slots, which follow the program's.
  MM_DEVICE RecordPair kernel_records(unsigned slot) const { return table_.pair(job_.slots + slot); }
  // Records for intermediate results. Where an instance has a slot of its own, each record has the size of
  // two.
  MM_DEVICE RecordPair scratch() const {
    constexpr bool kOfOne = kForm.scratch_slots() == 1;
    const std::uint32_t first = job_.slots + Form::kScratchSlot;
    return table_.pair(first, kOfOne ? first : first + 1, kOfOne ? 1 : 0);
  }

  // The modulus of the item `half`.
  MM_DEVICE WordSource modulus(unsigned half) const { return job_.modulus.at(items_.index(half)); }

  // Computes the constants of the items' moduli, and marks items whose moduli are refused.
  MM_DEVICE void set_up() const {
    const WordSource n[2] = {modulus(0), modulus(1)};
    const bool good = conversion_.set_up_moduli(modulus_, n);
    const unsigned thread = team_.lane() % 4;
    const std::uint32_t item = thread == 0 ? items_.index(0) : items_.index(1);
    const bool exists = thread == 0 ? items_.exists(0) : items_.exists(1);
    if (thread < 2 && exists) job_.refused[item] = good ? 0 : 1;
    team_.sync();
  }

  // Runs step s of the program.
  MM_DEVICE void run_step(Number& x, const gpu::Step& step, std::uint32_t s) const {
    RecordPair y = scratch();
    if constexpr (kForm.factors_in_shared_memory()) {
      if (step.multiplications > 0) prefetch_factors(step, s);
      square(x, step.squarings);
      cuda::wait_for_copies();
      multiply(x, factors(), step.multiplications);
    } else {
      square(x, step.squarings);
      if (step.multiplications > 0) locate(y, step, s);
      multiply(x, y, step.multiplications);
    }
    if (step.load) {
      locate(y, step, s);
      x.load(y);
    }
  }

  MM_DEVICE void square(Number& x, std::uint32_t times) const {
    MM_ROLLED
    for (std::uint32_t i = 0; i < times; ++i) montgomery_.square(x);
  }
  MM_DEVICE void multiply(Number& x, const RecordPair& y, std::uint32_t times) const {
    MM_ROLLED
    for (std::uint32_t i = 0; i < times; ++i) montgomery_.multiply(x, y);
  }

  // Where the factors of a multiplication are in shared memory.
  MM_DEVICE RecordPair factors() const { return in_shared<kRecord>(kForm.factors_at()); }

  // Starts asynchronous copies of the step's factors to factors().
  MM_DEVICE void prefetch_factors(const gpu::Step& step, std::uint32_t s) const {
    const RecordPair to = factors();
    RecordPair from = scratch();
    locate(from, step, s);
    MM_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      MM_UNROLL
      for (unsigned chunk = 0; chunk < kChunks; ++chunk)
        cuda::start_copy<Record::kChunkWords>(to[half].at(chunk), from[half].at(chunk));
    }
    if constexpr (kForm.sizes().is_split()) cuda::start_copy<2>(to.split_quad, from.split_quad);
  }

  // Converts the elements to words and stores the results.
  MM_DEVICE void finish(Number& x) const {
    Operand<Team, kForm.channels> w;
    montgomery_.operand_of(w, x);
    const WordSource n[2] = {modulus(0), modulus(1)};
    const WordSink result[2] = {sink(0), sink(1)};
    conversion_.to_words(result, w, n, scratch());
  }

  // Where the result of the item `half` goes; nowhere if the item does not exist.
  MM_DEVICE WordSink sink(unsigned half) const {
    const std::size_t at = static_cast<std::size_t>(items_.index(half)) * job_.result_width;
    return {job_.result + at, items_.exists(half) ? job_.result_width : 0};
  }

  MM_DEVICE void store(Number& x, std::uint32_t slot) const { x.store(table_.pair(slot)); }

  // The step behind the last one. It is read again for each step, and only where blocks take turns: a
  // register that kept it would be missing in the multiplications, and powers of 1024 bits take 2 % longer if
  // it is read where it is the number of steps.
  MM_DEVICE static std::uint32_t end_of(const gpu::Piece& piece) { return cuda::warp_uniform(piece.end); }
  // Where x is between two pieces.
  MM_DEVICE std::uint32_t kept_slot() const { return job_.slots - 1; }
  MM_DEVICE void load_kept(Number& x) const {
    RecordPair kept = table_.pair(kept_slot());
    x.load(kept);
  }

  // Sets y to the records of the step's factors. Factors that are in no table are computed into the scratch
  // records.
  MM_DEVICE void locate(RecordPair& y, const gpu::Step& step, std::uint32_t s) const {
    switch (step.source) {
      case gpu::Source::comb:
        return comb_element(y, step);
      case gpu::Source::digit:
        if (!is_selectable(step)) return table_element(y, step);
        y = kernel_records(kSelectedSlot + s % kSelections);
        return;
      case gpu::Source::slot:
        y = table_.pair(step.index);
        return;
      default:
        convert(y, step);
    }
  }

  // Converts the step's numbers to elements in the scratch records.
  MM_DEVICE void convert(RecordPair& y, const gpu::Step& step) const {
    const WordSource numbers[2] = {number(step, 0), number(step, 1)};
    y = scratch();
    conversion_.to_residues(y, numbers);
  }

  // The number that is a step's factor.
  MM_DEVICE WordSource number(const gpu::Step& step, unsigned half) const {
    if (step.source == gpu::Source::one) return {nullptr, 0, 1};
    const std::uint32_t item = items_.index(half);
    return step.source == gpu::Source::start ? job_.start.at(item) : job_.operands[step.index].at(item);
  }

  // Sets y to element `index` + digit of the table that all items share. In constant-time programs, the
  // addresses of loads do not depend on the digit.
  MM_DEVICE void comb_element(RecordPair& y, const gpu::Step& step) const {
    const std::uint32_t digit[2] = {digit_of(step, 0), digit_of(step, 1)};
    if (job_.scan) {
      y = scratch();
      SharedSelection<Team, kRecord>(team_, comb_, step.index, 1u << step.digit.count).run(y, digit);
    } else {
      y = comb_.pair(step.index + digit[0], step.index + digit[1], 0);
    }
  }

  // The same in the instances' own tables, where nothing has been selected: in variable-time programs, and
  // for windows that are too wide for a Selection.
  MM_DEVICE void table_element(RecordPair& y, const gpu::Step& step) const {
    const std::uint32_t digit[2] = {digit_of(step, 0), digit_of(step, 1)};
    if (job_.scan) {
      y = scratch();
      scan_record(y[0], 0, step, digit[0]);
      scan_record(y[1], 1, step, digit[1]);
      if constexpr (kForm.sizes().is_split()) scan_split_quad(y.split_quad, step, digit);
    } else {
      y = table_.pair(step.index + digit[0], step.index + digit[1], 1);
    }
  }

  // Copies element `index` + digit of the instance `half` by reading all elements. Constant-time.
  MM_DEVICE void scan_record(const Record& to, std::uint32_t half, const gpu::Step& step,
                             std::uint32_t digit) const {
    MM_ROLLED
    for (unsigned first = 0; first < kChunks; first += kChunksInFlight) {
      cuda::Chunk<Record::kChunkWords> sum[kChunksInFlight] = {};
      MM_ROLLED
      for (std::uint32_t e = 0; e < (1u << step.digit.count); ++e) {
        const std::uint32_t mask = mask_of(e, digit);
        const Record record = table_.at(step.index + e, half);
        MM_UNROLL
        for (unsigned j = 0; j < kChunksInFlight; ++j) {
          if (first + j >= kChunks) continue;
          const cuda::Chunk<Record::kChunkWords> chunk = record.load(first + j);
          MM_UNROLL
          for (unsigned i = 0; i < Record::kChunkWords; ++i) sum[j].word[i] |= chunk.word[i] & mask;
        }
      }
      MM_UNROLL
      for (unsigned j = 0; j < kChunksInFlight; ++j) {
        if (first + j < kChunks) to.store(first + j, sum[j]);
      }
    }
  }

  // The same for the words of the split channel quad.
  MM_DEVICE void scan_split_quad(std::uint32_t* to, const gpu::Step& step,
                                 const std::uint32_t (&digit)[2]) const {
    const std::uint32_t half = split_instance(team_.lane());
    cuda::Chunk<2> sum{};
    MM_ROLLED
    for (std::uint32_t e = 0; e < (1u << step.digit.count); ++e) {
      const std::uint32_t mask = mask_of(e, half == 0 ? digit[0] : digit[1]);
      const cuda::Chunk<2> two = cuda::load_chunk<2>(table_.split_quad(step.index + e, half));
      sum.word[0] |= two.word[0] & mask;
      sum.word[1] |= two.word[1] & mask;
    }
    cuda::store_chunk<2>(to, sum);
  }

  // The digit of the item `half` in a step.
  MM_DEVICE std::uint32_t digit_of(const gpu::Step& step, unsigned half) const {
    return gpu::digit_value(step.digit, job_.operands[step.digit.exponent].at(items_.index(half)));
  }
  MM_DEVICE static std::uint32_t mask_of(std::uint32_t entry, std::uint32_t digit) {
    return cuda::opaque(0 - static_cast<std::uint32_t>(entry == digit));
  }

  // Whether the step's element is found by a Selection: in constant-time programs, for windows of at most
  // kSelectionEntries elements.
  MM_DEVICE bool is_selectable(const gpu::Step& step) const {
    return job_.scan && step.source == gpu::Source::digit && 1u << step.digit.count <= kSelectionEntries;
  }

  // Selects the elements of step s and of those after it that belong to its run (Step::selection_run), at
  // most `most` steps. @return how many.
  MM_DEVICE std::uint32_t select(std::uint32_t s, std::uint32_t most) const {
    const gpu::Step* const steps = job_.steps + s;
    const std::uint32_t count = steps->selection_run < most ? steps->selection_run : most;
    team_.sync();
    const Select selection(team_, table_, job_.slots + kSelectedSlot, steps, count, s);
    MM_ROLLED
    for (unsigned half = 0; half < 2; ++half) {
      selection.run(half, [&](unsigned i) {
        return job_.operands[steps->digit.exponent].at(team_.shuffle(items_.index(half), 4 * i));
      });
    }
    team_.sync();
    return count;
  }
};

}  // namespace manymod::rns
