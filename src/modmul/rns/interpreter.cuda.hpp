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

/// The records of a launch: four j of the record of slot e and half h, of the thread that is number i of the
/// launch, stands at words[(((2 e + h) fours + j) threads + i) 4].
struct Records {
  std::uint32_t* words = nullptr;  ///< aligned to 16 bytes
  std::uint32_t threads = 1;
  std::uint32_t thread = 0;
  std::uint32_t fours = 1;  ///< of a record

  MM_DEVICE Record at(std::uint32_t slot, std::uint32_t half) const {
    const std::size_t first = (std::size_t{2} * slot + half) * fours * threads + thread;
    return {words + first * Record::kFour, std::size_t{threads} * Record::kFour};
  }
};

template <class Team, Form kForm>
class Interpreter {
  static constexpr unsigned kQ = kForm.fours;
  static constexpr unsigned kFours = record_words(kQ) / Record::kFour;
  // Fours of a record that are picked from a table together.
  static constexpr unsigned kPicked = 4;

 public:
  using Number = typename Montgomery<Team, kForm>::Number;
  using Constants = Bases<Team, kQ, kForm.words>;
  static constexpr unsigned kRecordFours = kFours;

  /// `modulus`: records for the moduli's constants. `thread` of `threads` in the launch.
  MM_DEVICE Interpreter(const Team& team, const Constants& bases, const device::ProgramJob& job,
                        const RecordPair& modulus, std::uint32_t thread, std::uint32_t threads,
                        const Items& items)
      : team_(team),
        job_(job),
        items_(items),
        modulus_(modulus),
        table_{job.table, threads, thread, kFours},
        comb_{const_cast<std::uint32_t*>(job.comb), job.comb_threads, team.lane() % 4, kFours},
        conversion_(team, bases, static_cast<const std::byte*>(job.constants)),
        montgomery_(team, bases, modulus) {}

  MM_DEVICE void run() {
    if constexpr (!kForm.one_modulus) set_up();
    const RecordPair home{{own_record(Form::kElementSlot, 0), own_record(Form::kElementSlot, 1)}};
    Number x(home);
    MM_ROLLED
    for (std::uint32_t s = 0; s < job_.step_count; ++s) {
      const device::Step step = job_.steps[s];
      MM_ROLLED
      for (std::uint32_t i = 0; i < step.squarings; ++i) montgomery_.square(x);
      if (step.source != device::Source::none) {
        RecordPair y;
        find(y, step);
        if (step.load) x.load(y);
        MM_ROLLED
        for (std::uint32_t i = 0; i < step.multiplications; ++i) montgomery_.multiply(x, y);
      }
      if (step.store) {
        const RecordPair to{{table_.at(step.slot, 0), table_.at(step.slot, 1)}};
        x.store(to);
      }
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
  MM_DEVICE Record scratch(unsigned half) const { return own_record(Form::kScratchSlot, half); }

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

  MM_DEVICE void finish(Number& x) const {
    Coordinates<Team, kQ> xi;
    montgomery_.coordinates(xi, x);
    const device::WordSource n[2] = {modulus(0), modulus(1)};
    const device::WordSink result[2] = {sink(0), sink(1)};
    const RecordPair record{{scratch(0), scratch(1)}};
    conversion_.to_words(result, xi, n, record);
  }

  MM_DEVICE device::WordSink sink(unsigned half) const {
    const std::size_t at = static_cast<std::size_t>(items_.index(half)) * job_.result_width;
    return {job_.result + at, items_.keep(half) ? job_.result_width : 0};
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
    y[0] = scratch(0);
    y[1] = scratch(1);
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
    MM_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const std::uint32_t digit =
          device::digit_value(step.digit, job_.operands[step.digit.exponent].at(items_.index(half)));
      const std::uint32_t table_half = own ? half : 0;
      if (!job_.scan) {
        y[half] = from.at(step.index + digit, table_half);
        continue;
      }
      y[half] = scratch(half);
      pick(y[half], from, table_half, step, digit);
    }
  }

  MM_DEVICE void pick(const Record& to, const Records& from, std::uint32_t half, const device::Step& step,
                      std::uint32_t digit) const {
    MM_ROLLED
    for (unsigned first = 0; first < kFours; first += kPicked) {
      cuda::Chunk<Record::kFour> sum[kPicked] = {};
      MM_ROLLED
      for (std::uint32_t e = 0; e < (1u << step.digit.count); ++e) {
        const std::uint32_t mask = cuda::opaque(0 - static_cast<std::uint32_t>(e == digit));
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
};

}  // namespace manymod::rns
