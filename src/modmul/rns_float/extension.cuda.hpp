// SPDX-License-Identifier: Apache-2.0
// Szabo and Tanaka's base extension (Moss, Page, Smart 2007, algorithm 2, stages 2 and 3, or 5 and 6) by a
// group of threads.
//
// A step finds one mixed radix digit, which its channel's lane has; the group shuffles it to all lanes, which
// divide what is left of their channels by the digit's modulus and add the digit times its place to their
// channels of the other base. Where the paper renders a pass for each step and reads the digit from the
// texture that the pass before wrote, a warp's lanes are in step anyway; and stage 3 takes part in the steps
// of stage 2, so that digits are stored nowhere.
//
// Lanes have channels i, i + kThreads, ..: at any step all have as many left, but for one. The one that has
// just given its digit goes on with constants that are 0, as the paper's guarded form passes through.
#pragma once

#include "core/portable.hpp"
#include "modmul/rns_float/tables.hpp"
#include "repr/word_memory.hpp"

namespace manymod::rns_float {

/// Of a lane's channels: records in registers, which move down by one place where a row of digits is done.
template <class Kind, unsigned kThreads, unsigned kCount>
class ModuliInRegisters {
 public:
  MM_DEVICE explicit ModuliInRegisters(const float* lane) {
    MM_UNROLL
    for (unsigned k = 0; k < kCount; ++k) modulus_[k] = load_modulus<Kind, kThreads>(lane, k);
  }
  MM_DEVICE typename Kind::Modulus operator[](unsigned k) const { return modulus_[k]; }
  MM_DEVICE void advance_row() {
    MM_UNROLL
    for (unsigned k = 0; k + 1 < kCount; ++k) modulus_[k] = modulus_[k + 1];
  }

 private:
  typename Kind::Modulus modulus_[kCount];
};

/// The same, read wherever one is used: what the paper's kernels without specialisation do.
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

/// Takes the other base's share of a digit.
template <class Kind, class Moduli, unsigned kThreads, unsigned kCount>
struct TargetSums {
  using Sum = typename Kind::Sum;
  static constexpr bool kAdds = true;

  Moduli moduli;
  Sum (&sums)[kCount];

  MM_DEVICE void add(float digit, const float* constants) {
    typename Kind::Constant place[kCount];
    load_constants<Kind, kThreads>(place, constants);
    MM_UNROLL
    for (unsigned r = 0; r < kCount; ++r) Kind::add_product(moduli[r], sums[r], digit, place[r]);
  }
  MM_DEVICE void settle() {
    MM_UNROLL
    for (unsigned r = 0; r < kCount; ++r) Kind::settle(moduli[r], sums[r]);
  }
  MM_DEVICE void store_digit(unsigned /*row*/, float /*own*/) {}
};

/// Keeps the digits of a lane's own channels.
struct DigitStore {
  LaneMemory memory;
  static constexpr bool kAdds = false;
  MM_DEVICE void add(float /*digit*/, const float* /*constants*/) {}
  MM_DEVICE void settle() {}
  MM_DEVICE void store_digit(unsigned row, float own_digit) const { memory[row] = cuda::pattern(own_digit); }
};

/// What the steps of one extension read.
struct Steps {
  const float* source;     ///< the lane's records of the base it extends from
  const float* constants;  ///< of step 0
  unsigned channels;
};

template <class Kind, class Group, unsigned kPerThread, template <class, unsigned, unsigned> class Moduli>
class Extension {
  static constexpr unsigned kThreads = Group::kSize;
  using L = Layout<Kind, kThreads, kPerThread>;
  using Residue = typename Kind::Residue;
  using LaneModuli = Moduli<Kind, kThreads, kPerThread>;
  // Digits that follow each other in unrolled code, of one row.
  static constexpr unsigned kBurst = kThreads < Kind::kBurst ? kThreads : Kind::kBurst;
  // A row's code takes as many channels as are left at the first row that it serves: this many rows each, so
  // that there are four pieces of code.
  static constexpr unsigned kRowsPerVariant = (kPerThread + 3) / 4;

 public:
  /// `x`: residues in the source; they are used up. `outcome`: Gathering or Keeping.
  template <class Outcome>
  MM_DEVICE static void run(const Group& group, const Steps& steps, Residue (&x)[kPerThread],
                            Outcome& outcome) {
    LaneModuli moduli(steps.source);
    const float* constants = steps.constants;
    run_from<0>(group, steps, x, moduli, constants, outcome);
  }

 private:
  // Rows kFirst and on, of kPerThread - kFirst channels at most.
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
