// SPDX-License-Identifier: Apache-2.0
// Runs a program (modmul/device/program.hpp) for the 16 items of a warp by one team.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/memory.hpp"
#include "arch/cuda/opaque.hpp"
#include "arch/cuda/portable.hpp"
#include "modmul/device/digit_value.hpp"
#include "modmul/device/multiplier.hpp"
#include "modmul/device/program.hpp"
#include "modmul/rns/conversion.cuda.hpp"
#include "modmul/rns/montgomery.cuda.hpp"
#include "modmul/rns/record.cuda.hpp"

namespace manymod::rns {

/// A thread's two items: `first` and the one 8 behind, of `count`. Where there is none the last one is
/// repeated.
struct Items {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  /// Whether the result is stored.
  MM_DEVICE bool keep(unsigned half) const { return item(half) < count; }
  MM_DEVICE std::uint32_t index(unsigned half) const { return keep(half) ? item(half) : count - 1; }

 private:
  // Opaque, to be computed where it is needed: kept, indices would take registers from the multiplications.
  MM_DEVICE std::uint32_t item(unsigned half) const { return cuda::opaque(first) + 8 * half; }
};

template <class Team, Form kForm>
class Interpreter {
  static constexpr unsigned kQ = kForm.fours;
  static constexpr unsigned kFours = record_words(kQ) / Record::kFour;
  // Fours of a record, and entries, that are read together when a table is searched: loads in flight.
  static constexpr unsigned kPicked = 8;
  static constexpr unsigned kEntries = kQ <= 17 ? 4 : kQ <= 26 ? 3 : kQ <= 34 ? 2 : 1;
  // Multiplications for a digit, or about so many.
  static constexpr std::uint32_t kTurns = 5;

 public:
  using Number = typename Montgomery<Team, kForm>::Number;
  using Constants = Bases<Team, kQ, kForm.words>;
  static constexpr unsigned kRecordFours = kFours;

  /// `modulus`: records for the moduli's constants. `table`: of the warp.
  MM_DEVICE Interpreter(const Team& team, const Constants& bases, const device::ProgramJob& job,
                        const RecordPair& modulus, const Records& table, const Items& items)
      : team_(team),
        job_(job),
        items_(items),
        modulus_(modulus),
        table_(table),
        comb_(Records::of_warp(const_cast<std::uint32_t*>(job.comb), 0, 0, kFours, team.lane() % 4)),
        conversion_(team, bases, static_cast<const std::byte*>(job.constants)),
        montgomery_(team, bases, modulus) {}

  /// `turn`: warps with another one search tables at other times: while some wait for memory, others
  /// multiply.
  MM_DEVICE void run(std::uint32_t turn) {
    if constexpr (!kForm.one_modulus) set_up();
    Number x(own_records(Form::kElementSlot));
    MM_ROLLED
    for (std::uint32_t s = 0; s < job_.step_count; ++s) {
      device::Step step = job_.steps[s];
      // What the first step squares is 0, and lost.
      if (s == 0 && job_.scan && !kForm.in_memory()) step.squarings += turn % kTurns;
      run_step(x, step);
      if (step.store) store(x, step.slot);
    }
    finish(x);
  }

 private:
  const Team& team_;
  const device::ProgramJob& job_;
  Items items_;
  RecordPair modulus_;
  Records table_, comb_;
  Conversion<Team, kForm> conversion_;
  Montgomery<Team, kForm> montgomery_;

  // Of the slots after the program's.
  MM_DEVICE Record own_record(unsigned slot, unsigned half) const {
    return table_.at(job_.slots + slot, half);
  }
  MM_DEVICE RecordPair own_records(unsigned slot) const {
    return {{own_record(slot, 0), own_record(slot, 1)}};
  }
  MM_DEVICE RecordPair scratch() const { return own_records(Form::kScratchSlot); }

  MM_DEVICE device::WordSource modulus(unsigned half) const { return job_.modulus.at(items_.index(half)); }

  MM_DEVICE void set_up() const {
    const device::WordSource n[2] = {modulus(0), modulus(1)};
    const bool good = conversion_.set_up_moduli(modulus_, n);
    const unsigned thread = team_.lane() % 4;
    const std::uint32_t item = thread == 0 ? items_.index(0) : items_.index(1);
    const bool keep = thread == 0 ? items_.keep(0) : items_.keep(1);
    if (thread < 2 && keep) job_.refused[item] = good ? 0 : 1;
    team_.sync();
  }

  MM_DEVICE void run_step(Number& x, const device::Step& step) const {
    RecordPair y = modulus_;
    if constexpr (kForm.operations() == Form::Operations::in_one_loop) {
      run_in_one_loop(x, y, 0, step);
    } else {
      MM_ROLLED
      for (std::uint32_t i = 0; i < step.squarings; ++i) montgomery_.square(x);
      if constexpr (kForm.operations() == Form::Operations::apart) {
        run_apart(x, y, step);
      } else {
        run_in_one_loop(x, y, step.squarings, step);
      }
    }
    if (step.load && is_packed(step) == 0) {
      find(y, step);
      x.load(y);
    }
  }

  // What comes after the squarings.
  MM_DEVICE void run_apart(Number& x, RecordPair& y, const device::Step& step) const {
    if (is_packed(step) != 0) {
      find_packed(x, y, step);
      montgomery_.complete(x);
    } else if (step.multiplications > 0) {
      find(y, step);
    }
    MM_ROLLED
    for (std::uint32_t i = 0; i < step.multiplications; ++i) montgomery_.multiply(x, y);
  }

  // From operation `i` of the step on.
  MM_DEVICE void run_in_one_loop(Number& x, RecordPair& y, std::uint32_t i, const device::Step& step) const {
    const std::uint32_t packed = is_packed(step);
    const std::uint32_t squared = step.squarings, found = squared + packed;
    MM_ROLLED
    for (; i < found + step.multiplications; ++i) {
      if (i == squared && packed != 0) find_packed(x, y, step);
      if (i == squared && packed == 0) find(y, step);
      montgomery_.operate(x, y,
                          i < squared ? Operation::square
                          : i < found ? Operation::complete
                                      : Operation::multiply);
    }
  }

  // 1 where the factor is packed: in class secret the elements of a table are. Computed without jumps, and in
  // words: in half a register, beside what is left of a secret, the check of the machine code for secrets
  // would not know it from one.
  MM_DEVICE std::uint32_t is_packed(const device::Step& step) const {
    constexpr auto kSlot = static_cast<std::uint32_t>(device::Source::slot);
    static_assert(kSlot % 2 == 0 && static_cast<std::uint32_t>(device::Source::digit) == kSlot + 1);
    const std::uint32_t source = cuda::opaque(static_cast<std::uint32_t>(step.source));
    return static_cast<std::uint32_t>(job_.scan) & static_cast<std::uint32_t>((source ^ kSlot) < 2);
  }

  MM_DEVICE void finish(Number& x) const {
    Coordinates<Team, kQ> xi;
    montgomery_.coordinates(xi, x);
    const device::WordSource n[2] = {modulus(0), modulus(1)};
    const device::WordSink result[2] = {sink(0), sink(1)};
    conversion_.to_words(result, xi, n, scratch());
  }

  MM_DEVICE device::WordSink sink(unsigned half) const {
    const std::size_t at = static_cast<std::size_t>(items_.index(half)) * job_.result_width;
    return {job_.result + at, items_.keep(half) ? job_.result_width : 0};
  }

  MM_DEVICE void store(Number& x, std::uint32_t slot) const {
    if (job_.scan) return pack(x, slot);
    const RecordPair to{{table_.at(slot, 0), table_.at(slot, 1)}};
    x.store(to);
  }

  // Where the step's factors are. Those that are nowhere yet are made in the scratch records.
  MM_DEVICE void find(RecordPair& y, const device::Step& step) const {
    switch (step.source) {
      case device::Source::comb:
        return choose(y, comb_, false, step);
      case device::Source::digit:
        return choose(y, table_, true, step);
      case device::Source::slot:
        y[0] = table_.at(step.index, 0);
        y[1] = table_.at(step.index, 1);
        return;
      default:
        convert(y, step);
    }
  }

  MM_DEVICE void convert(RecordPair& y, const device::Step& step) const {
    const device::WordSource numbers[2] = {number(step, 0), number(step, 1)};
    y = scratch();
    conversion_.to_residues(y, numbers);
  }

  MM_DEVICE device::WordSource number(const device::Step& step, unsigned half) const {
    if (step.source == device::Source::one) return {nullptr, 0, 1};
    const std::uint32_t item = items_.index(half);
    return step.source == device::Source::start ? job_.start.at(item) : job_.operands[step.index].at(item);
  }

  // Element `index` + the digit. In class secret all that a digit can mean are read, at addresses that do not
  // depend on it. `own`: both instances have a table of their own, not that of the first half for both.
  MM_DEVICE void choose(RecordPair& y, const Records& from, bool own, const device::Step& step) const {
    const std::uint32_t digit[2] = {digit_of(step, 0), digit_of(step, 1)};
    const std::uint32_t second = own ? 1 : 0;
    if (job_.scan) {
      y = scratch();
      pick(y[0], from, 0, step, digit[0]);
      pick(y[1], from, second, step, digit[1]);
    } else {
      y[0] = from.at(step.index + digit[0], 0);
      y[1] = from.at(step.index + digit[1], second);
    }
  }

  MM_DEVICE void pick(const Record& to, const Records& from, std::uint32_t half, const device::Step& step,
                      std::uint32_t digit) const {
    MM_ROLLED
    for (unsigned first = 0; first < kFours; first += kPicked) {
      cuda::Chunk<Record::kFour> sum[kPicked] = {};
      MM_ROLLED
      for (std::uint32_t e = 0; e < (1u << step.digit.count); ++e) {
        const std::uint32_t mask = mask_of(e, digit);
        const Record record = from.at(step.index + e, half);
        MM_UNROLL
        for (unsigned j = 0; j < kPicked; ++j) {
          if (first + j >= kFours) continue;
          const cuda::Chunk<Record::kFour> four = record.load(first + j);
          MM_UNROLL
          for (unsigned i = 0; i < Record::kFour; ++i) sum[j].word[i] |= four.word[i] & mask;
        }
      }
      MM_UNROLL
      for (unsigned j = 0; j < kPicked; ++j) {
        if (first + j < kFours) to.store(first + j, sum[j]);
      }
    }
  }

  MM_DEVICE std::uint32_t digit_of(const device::Step& step, unsigned half) const {
    return device::digit_value(step.digit, job_.operands[step.digit.exponent].at(items_.index(half)));
  }
  MM_DEVICE static std::uint32_t mask_of(std::uint32_t entry, std::uint32_t digit) {
    return cuda::opaque(0 - static_cast<std::uint32_t>(entry == digit));
  }

  // In class secret a table's entries are the residues in A alone, those of both instances in the slot's
  // first record: all entries are read for each digit, often from memory.
  MM_DEVICE void pack(Number& x, std::uint32_t slot) const {
    typename Number::template Cursor<Part::a> own(x);
    RecordWriter<0, 2 * kQ> writer(table_.at(slot, 0));
    MM_UNROLL
    for (unsigned k = 0; k < 2 * kQ; ++k) writer.set(k, own.get(k / kQ, k % kQ));
  }

  // x = the residues in A of the element that is the step's factor. What x was is the factor then: y.
  MM_DEVICE void find_packed(Number& x, RecordPair& y, const device::Step& step) const {
    y = own_records(Form::kSavedSlot);
    x.store(y);
    std::uint32_t in_a[kFours * Record::kFour] = {};
    search(in_a, step);
    typename Number::template Cursor<Part::a> own(x);
    MM_UNROLL
    for (unsigned q = 0; q < kQ; ++q) {
      MM_UNROLL
      for (unsigned half = 0; half < 2; ++half) own.set(half, q, in_a[half * kQ + q]);
    }
  }

  // The words of the entries of both instances' digits, or of the slot.
  MM_DEVICE void search(std::uint32_t (&found)[kFours * Record::kFour], const device::Step& step) const {
    const bool by_digit = step.source == device::Source::digit;
    const std::uint32_t entries = by_digit ? 1u << step.digit.count : 1;
    const std::uint32_t digit[2] = {by_digit ? digit_of(step, 0) : 0, by_digit ? digit_of(step, 1) : 0};
    MM_ROLLED
    for (std::uint32_t first = 0; first < entries; first += kEntries) {
      // The tables of all warps are often larger than the second-level cache: so that half of each stays in
      // it rather than nothing.
      const cuda::CachePolicy policy(2 * first < entries);
      MM_UNROLL
      for (unsigned e = 0; e < kEntries; ++e) {
        // Behind the last entry it is read again: no digit is that of its number.
        const std::uint32_t entry = first + e, last = entries - 1;
        const Record record = table_.at(step.index + (entry < last ? entry : last), 0);
        const std::uint32_t mask[2] = {mask_of(entry, digit[0]), mask_of(entry, digit[1])};
        MM_UNROLL
        for (unsigned j = 0; j < kFours; ++j) {
          const cuda::Chunk<Record::kFour> four =
              policy.load_chunk(record.words + std::size_t{j} * Record::kStep);
          MM_UNROLL
          for (unsigned i = 0; i < Record::kFour; ++i) {
            const unsigned k = Record::kFour * j + i;
            if (k < 2 * kQ) found[k] |= four.word[i] & mask[k / kQ];
          }
        }
      }
    }
  }
};

}  // namespace manymod::rns
