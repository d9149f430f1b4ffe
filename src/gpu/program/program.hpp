// SPDX-License-Identifier: Apache-2.0
// Programs: the computation of a kernel for each item of a batch, as a list of steps around one Montgomery
// multiplication and one squaring. They are plain data: each GPU backend has its own interpreter for them.
//
// All operations (powers in both timing classes, products, combs, products of powers) are lists of the same
// few kinds of steps, built on the host (programs.hpp). A CUDA kernel is the interpreter
// (interpreter.cuda.hpp) for one multiplier, and contains its unrolled multiplication and its unrolled
// squaring once each. Steps are public: they depend on sizes, and in variable time also on exponents that all
// items share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/portable.hpp"
#include "repr/word_memory.hpp"

namespace manymod::gpu {

/// Where a step reads its factor from; `index` is Step::index.
enum class Source : std::uint8_t {
  none,     ///< nowhere: the step only squares
  one,      ///< the integer 1
  start,    ///< R 2^b mod n, b = StartPower::bits (programs.hpp); R^2 mod n if R is not a power of two
  operand,  ///< operand `index` of the item, an integer below 2^(32 kWords)
  slot,     ///< element `index` of the group's table
  digit,    ///< element `index` + digit of the group's table
  comb,     ///< element `index` + digit of the table that all items share
};

/// A digit of an exponent: its bits are the exponent's bits first, first + stride, .., of which there are
/// `count`, from the least significant up. Bits beyond the exponent are 0.
struct Digit {
  std::uint32_t exponent = 0;  ///< number of the operand that is the exponent
  std::uint32_t first = 0;
  std::uint32_t stride = 1;
  std::uint32_t count = 0;  ///< < 32
};

/// A step of a program. It performs, in this order: `squarings` times x = x^2 / R; with y read from `source`,
/// x = y if `load`, then `multiplications` times x = x y / R; if `store`, table[slot] = x.
struct Step {
  Source source = Source::none;
  bool load = false;
  bool store = false;  ///< to element `slot` of the group's table
  std::uint32_t index = 0;
  std::uint32_t slot = 0;
  std::uint32_t squarings = 0;
  std::uint32_t multiplications = 0;  ///< at most 1 if y is an element of a table
  Digit digit;
  /// The length of the run of steps, beginning with this one, whose table elements may be selected together:
  /// they take elements from the same table by digits of the same exponent that differ only in their
  /// positions, and none but the last one stores. At least 1; a shorter length than the actual one is
  /// allowed.
  std::uint32_t selection_run = 1;
};

inline constexpr unsigned kMaxOperands = 64;

/// The steps begin .. end - 1 of a program for the items of one block. Blocks of a launch may take turns
/// (gpu/engine/turns.hpp): then the program of some items is in two pieces, between which other items are
/// computed.
struct Piece {
  std::uint32_t block = 0;  ///< the items and the table are those of this block in a launch without turns
  std::uint32_t begin = 0;  ///< if > 0, x is what the piece of the steps before stored
  std::uint32_t end = 0;    ///< if less than the number of steps, x is stored for the piece of the next steps
};

/// Canonical numbers of a batch, in device memory: item i is the `width` words from words[i stride]; stride
/// is 0 if all items share one number.
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
  std::uint32_t* result =
      nullptr;  ///< canonical; item i is the result_width words from result[i result_width]
  std::uint32_t result_width = 0;
  /// The number of units of work that warps have claimed beyond their first ones; 0 on input. Null: warps
  /// share the work by a grid-stride loop.
  std::uint32_t* claimed = nullptr;
  std::uint32_t* table = nullptr;  ///< see Table in interpreter.cuda.hpp
  /// The table of a launch of `comb_threads` threads, of which the first group's elements are read.
  const std::uint32_t* comb = nullptr;
  std::uint32_t comb_threads = 1;
  bool scan = false;   ///< constant time: a digit's element is found by reading all elements
  bool turns = false;  ///< blocks take turns: `pieces` and `progress`
  /// The program's slots of the table. The slots that a kernel needs for itself (Shape::more_slots) follow
  /// them.
  std::uint32_t slots = 0;
  /// Constants that the technique's kernels read besides the numbers (gpu/engine/constants.hpp); for a kernel
  /// of one shared modulus, the constants of that modulus. Null if the technique has none.
  const void* constants = nullptr;
  /// A byte per item, 0 on input: a kernel sets it to another value if it cannot compute with the item's
  /// modulus, and the item's result is undefined then. Null if the technique has no constants, or if they are
  /// those of one modulus.
  std::uint8_t* refused = nullptr;
  /// For shapes with Shape::takes_pieces. Without turns: the whole program, for block 0; each block computes
  /// it for items of its own. With turns: what the blocks compute, in the order in which they begin; of two
  /// pieces of the same items the one with the earlier steps is first. The last of the program's slots is for
  /// x between two pieces then.
  const Piece* pieces = nullptr;
  /// With turns: the number of pieces that have begun, then the piece of each block of the launch, then for
  /// each block of items whether an earlier piece has stored x; all 0 on input.
  std::uint32_t* progress = nullptr;

  /// See Kernel::launch.
  static std::span<const std::size_t> device_pointers();
};

}  // namespace manymod::gpu
