// SPDX-License-Identifier: Apache-2.0
// Szabo and Tanaka's base extension (Moss, Page, Smart 2007, algorithm 2: stages 2 and 3, or 5 and 6) by a
// group of threads.
//
// Each step finds one mixed-radix digit in the lane that has the digit's channel. The group shuffles it to
// all lanes. They subtract it from the remaining channels of the source base and divide these by the digit's
// modulus; and they add the digit times its place value to their channels of the other base. The paper
// renders a pass for each step and reads the digit from the texture that the previous pass wrote; here the
// lanes of a warp are synchronous anyway. Stage 3 is executed within the steps of stage 2, so that digits
// need not be stored.
//
// Lane l has channels l, l + kThreads, ..; kThreads consecutive channels are a row. In any step the numbers
// of remaining channels of two lanes differ by at most one. A lane that has just delivered its digit
// continues with constants that are 0, as the paper's guarded form passes values through.
#pragma once

#include "core/portable.hpp"
#include "modmul/rns_float/tables.hpp"
#include "repr/word_memory.hpp"

namespace manymod::rns_float {

/// The records of a lane's channels in registers. After a row of digits they move down by one.
template <class Kind, unsigned kThreads, unsigned kCount>
class ModuliInRegisters {
 public:
  MM_DEVICE explicit ModuliInRegisters(const float* lane) {
    MM_UNROLL
    for (unsigned k = 0; k < kCount; ++k) modulus_[k] = load_modulus<Kind, kThreads>(lane, k);
  }
  MM_DEVICE typename Kind::Modulus operator[](unsigned k) const { return modulus_[k]; }
  /// Drops the channels of the row that is complete.
  MM_DEVICE void advance_row() {
    MM_UNROLL
    for (unsigned k = 0; k + 1 < kCount; ++k) modulus_[k] = modulus_[k + 1];
  }

 private:
  typename Kind::Modulus modulus_[kCount];
};

/// The same, read from memory at each use: what the paper's kernels without specialisation do.
template <class Kind, unsigned kThreads, unsigned kCount>
class ModuliInMemory {
 public:
  MM_DEVICE explicit ModuliInMemory(const float* lane) : lane_(lane) {}
  MM_DEVICE typename Kind::Modulus operator[](unsigned k) const {
    return load_modulus<Kind, kThreads>(lane_, k < left_ ? first_ + k : first_);
  }
  MM_DEVICE void advance_row() {
    ++first_;
    --left_;
  }

 private:
  const float* lane_;
  unsigned first_ = 0, left_ = kCount;
};

/// An outcome of an extension: adds the digits to sums in the other base.
template <class Kind, class Moduli, unsigned kThreads, unsigned kCount>
struct TargetSums {
  using Sum = typename Kind::Sum;
  static constexpr bool kAdds = true;

  Moduli moduli;
  Sum (&sums)[kCount];

  /// Adds the digit times its place values, which are at `constants`.
  MM_DEVICE void add(float digit, const float* constants) {
    typename Kind::Constant place[kCount];
    load_constants<Kind, kThreads>(place, constants);
    MM_UNROLL
    for (unsigned r = 0; r < kCount; ++r) Kind::add_product(moduli[r], sums[r], digit, place[r]);
  }
  /// Reduces the sums, after at most kBurst digits.
  MM_DEVICE void settle() {
    MM_UNROLL
    for (unsigned r = 0; r < kCount; ++r) Kind::settle(moduli[r], sums[r]);
  }
  MM_DEVICE void store_digit(unsigned /*row*/, float /*own_digit*/) {}
};

/// An outcome of an extension: stores the digits of a lane's own channels.
struct DigitStore {
  LaneMemory memory;
  static constexpr bool kAdds = false;
  MM_DEVICE void add(float /*digit*/, const float* /*constants*/) {}
  MM_DEVICE void settle() {}
  MM_DEVICE void store_digit(unsigned row, float own_digit) const { memory[row] = cuda::pattern(own_digit); }
};

/// What the steps of one extension read.
struct Steps {
  const float* source;     ///< this lane's records of the source base
  const float* constants;  ///< this lane's constants of step 0
  unsigned channels;
};

/// The extension for a representation, a group and a way to hold moduli.
template <class Kind, class Group, unsigned kPerThread, template <class, unsigned, unsigned> class Moduli>
class Extension {
  static constexpr unsigned kThreads = Group::kSize;
  using L = Layout<Kind, kThreads, kPerThread>;
  using Residue = typename Kind::Residue;
  using LaneModuli = Moduli<Kind, kThreads, kPerThread>;
  // Digits of one row that are unrolled together.
  static constexpr unsigned kBurst = kThreads < Kind::kBurst ? kThreads : Kind::kBurst;
  // The code for a row works on as many channels as remain at the first row that it serves. This many rows
  // share their code, so that there are at most four variants of it.
  static constexpr unsigned kRowsPerVariant = (kPerThread + 3) / 4;

 public:
  /// Extends x, the residues of a number in the source base, and hands each digit to `outcome` (TargetSums or
  /// DigitStore). x is overwritten. All lanes of the group call.
  template <class Outcome>
  MM_DEVICE static void run(const Group& group, const Steps& steps, Residue (&x)[kPerThread],
                            Outcome& outcome) {
    LaneModuli moduli(steps.source);
    const float* constants = steps.constants;
    run_from<0>(group, steps, x, moduli, constants, outcome);
  }

 private:
  // Rows from kFirst on, in each of which at most kPerThread - kFirst channels remain.
  template <unsigned kFirst, class Outcome>
  MM_DEVICE static void run_from(const Group& group, const Steps& steps, Residue (&x)[kPerThread],
                                 LaneModuli& moduli, const float*& constants, Outcome& outcome) {
    if constexpr (kFirst < kPerThread) {
      constexpr unsigned kEnd = kFirst + kRowsPerVariant < kPerThread ? kFirst + kRowsPerVariant : kPerThread;
      MM_ROLLED
      for (unsigned row = kFirst; row < kEnd && row * kThreads < steps.channels; ++row) {
        run_row<kPerThread - kFirst>(group, steps, row, x, moduli, constants, outcome);
        moduli.advance_row();
        MM_UNROLL
        for (unsigned k = 0; k + 1 < kPerThread - kFirst; ++k) x[k] = x[k + 1];
      }
      run_from<kEnd>(group, steps, x, moduli, constants, outcome);
    }
  }

  // One row of digits, while kLeft channels of a lane remain.
  template <unsigned kLeft, class Outcome>
  MM_DEVICE static void run_row(const Group& group, const Steps& steps, unsigned row,
                                Residue (&x)[kPerThread], const LaneModuli& moduli, const float*& constants,
                                Outcome& outcome) {
    const typename Kind::Modulus current = load_modulus<Kind, kThreads>(steps.source, row);
    float own_digit = 0;
    MM_ROLLED
    for (unsigned first = 0; first < kThreads && row * kThreads + first < steps.channels; first += kBurst) {
      MM_UNROLL
      for (unsigned i = first; i < first + kBurst; ++i) {
        const float candidate = Kind::digit(current, x[0]);
        const float digit = group.shuffle(candidate, i);
        if constexpr (!Outcome::kAdds) own_digit = i == group.lane() ? candidate : own_digit;
        divide<kLeft>(x, moduli, digit, constants);
        outcome.add(digit, constants + L::kOthers);
        constants += L::kStep;
      }
      outcome.settle();
    }
    outcome.store_digit(row, own_digit);
  }

  // x = (x - digit) / m modulo each remaining channel, m the modulus of the digit's channel.
  template <unsigned kLeft>
  MM_DEVICE static void divide(Residue (&x)[kPerThread], const LaneModuli& moduli, float digit,
                               const float* lane_constants) {
    typename Kind::Constant inverse[kLeft];
    load_constants<Kind, kThreads>(inverse, lane_constants);
    MM_UNROLL
    for (unsigned k = 0; k < kLeft; ++k) x[k] = Kind::divide_step(moduli[k], x[k], digit, inverse[k]);
  }
};

}  // namespace manymod::rns_float
