// SPDX-License-Identifier: Apache-2.0
// Programs: what a CUDA kernel computes for each item of a batch, as a list of steps around one Montgomery
// multiplication and one squaring.
//
// All operations (powers in both timing classes, products, combs, products of powers) are lists of the same
// few steps, made on the host (programs.hpp). A kernel is the interpreter (interpreter.hpp) for one
// multiplier: its unrolled multiplication and squaring are each in it once. Steps are public: they depend on
// sizes, and in class public on exponents that all items share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "repr/word_memory.hpp"

namespace manymod::gpu {

/// Where a step's factor is read from. `index` means what the comment says.
enum class Source : std::uint8_t {
  none,     ///< nowhere: the step only squares
  one,      ///< the integer 1
  start,    ///< 2^(R's bits + the job's start bits) mod n; R^2 mod n where R is no power of two
  operand,  ///< operand `index` of the item, an integer below 2^(32 kWords)
  slot,     ///< element `index` of the group's table
  digit,    ///< element `index` + digit of the group's table
  comb,     ///< element `index` + digit of the table that all items share
};

/// Bits of an exponent that make up a digit: first, first + stride, .., `count` of them, the first the least
/// significant. Bits beyond the exponent are 0.
struct Digit {
  std::uint32_t exponent = 0;  ///< operand whose bits they are
  std::uint32_t first = 0;
  std::uint32_t stride = 1;
  std::uint32_t count = 0;  ///< < 32
};

/// x = x^(2^squarings); then, with y read from `source`, x = y or, `multiplications` times, x = x y / R; then
/// x is stored.
struct Step {
  Source source = Source::none;
  bool load = false;   ///< x = y
  bool store = false;  ///< in the group's table, at `slot`
  std::uint32_t index = 0;
  std::uint32_t slot = 0;
  std::uint32_t squarings = 0;
  std::uint32_t multiplications = 0;  ///< by an element of a table: at most 1
  Digit digit;
  /// The length of the run of steps, beginning with this one, whose table elements may be selected together:
  /// they take elements from the same table by digits of the same exponent that differ only in where they
  /// begin, and none but the last one stores. At least 1; a shorter length than the actual one is allowed.
  std::uint32_t selection_run = 1;
};

inline constexpr unsigned kMaxOperands = 64;

/// Canonical numbers of a batch, in device memory: item i is `width` words from words[i stride]; stride 0
/// where all items share one.
struct DeviceOperand {
  const std::uint32_t* words = nullptr;
  std::uint32_t width = 0;
  std::uint32_t stride = 0;

  MM_DEVICE WordSource at(std::uint32_t item) const {
    return {words == nullptr ? nullptr : words + static_cast<std::size_t>(item) * stride, width};
  }
};

/// A kernel's argument. All pointers are to device memory.
struct ProgramJob {
  const Step* steps = nullptr;
  std::uint32_t step_count = 0;
  std::uint32_t count = 0;               ///< items
  DeviceOperand modulus;                 ///< odd, 1 < n < 2^(32 kWords)
  DeviceOperand start;                   ///< see Source::start
  DeviceOperand operands[kMaxOperands];  ///< factors below 2^(32 kWords), exponents of any width
  std::uint32_t* result = nullptr;  ///< canonical; item i is `result_width` words from result[i result_width]
  std::uint32_t result_width = 0;
  /// 0 at first: here warps count what they claim of the work beyond their first share. Null: they take it in
  /// turn.
  std::uint32_t* claimed = nullptr;
  std::uint32_t* table = nullptr;  ///< see Table in interpreter.hpp
  const std::uint32_t* comb =
      nullptr;  ///< table of a launch of `comb_threads` threads: its first group's part is read
  std::uint32_t comb_threads = 1;
  bool scan = false;  ///< a digit's element is found by reading all of them: class secret
  /// Of the table: the program's slots. Those that a kernel needs for itself (Shape::more_slots) come after
  /// them.
  std::uint32_t slots = 0;
  /// What the technique's kernels read besides: for a kernel of one shared modulus, of that modulus. Null
  /// where the technique has none (constants.hpp).
  const void* constants = nullptr;
  /// A byte for each item, 0 at first: a kernel leaves another there where it cannot compute with the item's
  /// modulus; its result is of no use then. Null where the technique has no constants, or they are of one
  /// modulus.
  std::uint8_t* refused = nullptr;
};

}  // namespace manymod::gpu
