// SPDX-License-Identifier: Apache-2.0
// The argument of the kernels of division32: element-wise operations on rows of words in device memory.
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

enum class RowOperation : std::uint8_t { add, subtract, multiply };

/// Integer i is the `width` words from words[i stride]; with null `words` all items have the integer of that
/// width in Job::shared. Even numbers of words, since limbs have two.
struct Rows {
  const std::uint32_t* words = nullptr;
  std::uint64_t stride = 0;
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
  Rows x, y;  ///< a product of x and x is a square; x - y with x of width 0 is -y
  Rows modulus;
  std::uint32_t* result = nullptr;
  std::uint64_t result_stride = 0;
  std::uint32_t result_width = 0;  ///< words; at least those of the modulus
  bool result_quads = false;
  RowOperation operation = RowOperation::add;
  std::uint32_t count = 0;  ///< items

  // Where items have their own moduli:
  std::uint32_t modulus_bits = 0;   ///< longer moduli have no result
  ModulusClass* kinds = nullptr;    ///< of each item's modulus: compute (1 too), zero or too_wide
  std::uint32_t* failed = nullptr;  ///< set to 1 if any item has no result; in host memory

  alignas(16) std::uint32_t shared[3][kMaxWords];  ///< aligned as Rows::quads tells
  SharedDivisor divisor;                           ///< of a shared modulus
};
static_assert(sizeof(Job) <= 4096);

}  // namespace manymod::division32
