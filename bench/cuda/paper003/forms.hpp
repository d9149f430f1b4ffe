// SPDX-License-Identifier: Apache-2.0
// The kernels of the program paper003: their list, and what they are made of.
#pragma once

#include "ecc/giorgi/operations.cuda.hpp"

// FORM(name, words): the paper's five widths by fios, with operands in three places and digits of two
// radices; and for comparison two widths by what fields of any modulus compute with.
#define MM_PAPER003_WIDTHS(FORM, form) FORM(form, 5) FORM(form, 6) FORM(form, 7) FORM(form, 8) FORM(form, 12)
#define MM_PAPER003_FORMS(FORM)               \
  MM_PAPER003_WIDTHS(FORM, radix16_local)     \
  MM_PAPER003_WIDTHS(FORM, radix16_shared)    \
  MM_PAPER003_WIDTHS(FORM, radix16_registers) \
  MM_PAPER003_WIDTHS(FORM, radix32_local)     \
  MM_PAPER003_WIDTHS(FORM, radix32_shared)    \
  MM_PAPER003_WIDTHS(FORM, radix32_registers) \
  FORM(row32, 8)                              \
  FORM(row32, 12)                             \
  FORM(dpf52, 8)                              \
  FORM(dpf52, 12)

// KERNEL(form, words, operation) for all operations.
#define MM_PAPER003_OPERATIONS(KERNEL, form, words) \
  KERNEL(form, words, multiply)                     \
  KERNEL(form, words, add)                          \
  KERNEL(form, words, twice)                        \
  KERNEL(form, words, right_to_left)                \
  KERNEL(form, words, naf2)                         \
  KERNEL(form, words, naf3)

namespace manymod::bench::paper003 {

using radix16_local = ecc::giorgi::FiosPlaced<16, fios::InLocalMemory>;
using radix16_shared = ecc::giorgi::FiosPlaced<16, fios::InSharedMemory>;
using radix16_registers = ecc::giorgi::FiosRegisters<16>;
using radix32_local = ecc::giorgi::FiosPlaced<32, fios::InLocalMemory>;
using radix32_shared = ecc::giorgi::FiosPlaced<32, fios::InSharedMemory>;
using radix32_registers = ecc::giorgi::FiosRegisters<32>;
using row32 = field::Row32;
using dpf52 = field::Dpf52;

/// Threads of a block: 32 where each has operands in shared memory, so that a block needs less than 48 KiB.
template <class Technique>
inline constexpr unsigned kBlock = 128;
template <unsigned kBits>
inline constexpr unsigned kBlock<ecc::giorgi::FiosPlaced<kBits, fios::InSharedMemory>> = 32;

/// Blocks of a multiprocessor at least, which bounds the registers of a thread.
template <class Technique, unsigned kWords>
inline constexpr unsigned kBlocks = kWords > 8 ? 3 : 4;
template <unsigned kWords>
inline constexpr unsigned kBlocks<dpf52, kWords> = kWords > 8 ? 2 : 3;
template <unsigned kBits, unsigned kWords>
inline constexpr unsigned kBlocks<ecc::giorgi::FiosPlaced<kBits, fios::InSharedMemory>, kWords> = 16;

}  // namespace manymod::bench::paper003
