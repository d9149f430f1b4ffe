// SPDX-License-Identifier: Apache-2.0
// The argument of the kernels of division32: element-wise operations on rows of words in device memory, and
// sums and products of many rows for each item.
//
// Integers that all items share, the divisor of a shared modulus among them, are part of the argument. So a
// call uploads nothing, and kernels read them through the constant cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/modulus_class.hpp"
#include "core/portable.hpp"

namespace manymod::division32 {

inline constexpr unsigned kMaxWords = 128;
inline constexpr unsigned kBlock = 128;  ///< threads of a block

/// Words of shared memory of a group that computes numbers of `words` words. An odd number, so that the
/// groups of a warp access different banks.
MM_DEVICE unsigned memory_words(unsigned words) { return words + 1; }

/// multiply: x y + z. The last three are of an item's terms: sums of x, sums of x y, products of x.
enum class RowOperation : std::uint8_t { add, subtract, multiply, sum, dot, product };

/// Item i's integer, or its term t, is the `width` words from words[i stride + t term_stride]; with null
/// `words` all items have the integer of that width in Job::shared. Even numbers of words, since limbs have
/// two.
struct Rows {
  const std::uint32_t* words = nullptr;
  std::uint64_t stride = 0;
  std::uint64_t term_stride = 0;
  std::uint32_t width = 0;
  std::uint32_t shared = 0;  ///< index in Job::shared
  bool quads = false;        ///< all integers begin and end at multiples of 16 bytes
};

/// N, its reciprocal and F (division.cuda.hpp) in the kernel's number of words.
struct SharedDivisor {
  std::uint32_t minus[kMaxWords];
  std::uint32_t fold[kMaxWords];
  std::uint32_t reciprocal = 0;
  std::uint32_t shift = 0;
};

struct Job {
  Rows x, y;  ///< with y of width 0, x y is a square; x - y with x of width 0 is -y
  Rows z;     ///< of width 0: nothing is added
  Rows modulus;
  std::uint32_t* result = nullptr;
  std::uint64_t result_stride = 0;
  std::uint32_t result_width = 0;  ///< words; at least those of the modulus
  bool result_quads = false;
  RowOperation operation = RowOperation::add;
  std::uint32_t count = 0;  ///< results: items, or parts of items

  // Result i is that of terms p, p + parts, p + 2 parts, .. of item i / parts, p = i mod parts.
  std::uint32_t terms = 0;  ///< of an item, 0 < parts <= terms
  std::uint32_t parts = 1;

  // Where items have their own moduli:
  std::uint32_t modulus_bits = 0;   ///< longer moduli have no result; 0: a modulus is shared
  ModulusClass* kinds = nullptr;    ///< of each item's modulus: compute (1 too), zero or too_wide; null where
                                    ///< results are parts of items, in which any residue will do
  std::uint32_t* failed = nullptr;  ///< set to 1 if any item has no result; in host memory

  alignas(16) std::uint32_t shared[4][kMaxWords];  ///< aligned as Rows::quads tells
  SharedDivisor divisor;                           ///< of a shared modulus
};
static_assert(sizeof(Job) <= 4096);

}  // namespace manymod::division32
