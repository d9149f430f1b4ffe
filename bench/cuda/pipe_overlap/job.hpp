// SPDX-License-Identifier: Apache-2.0
// What the kernels of kernels.cu are given, and what they leave.
#pragma once

#include <cstdint>

namespace manymod::bench {

/// What a warpgroup did.
struct OverlapResult {
  std::uint64_t rounds;
  std::uint64_t clocks;
  std::uint64_t digest;  ///< of all that it computed, so that it has to
};

/// The first `product_groups` warpgroups of a block make products of bytes and, between the start of one and
/// the wait for the one before, run `inside` bodies of instructions; the others run bodies alone.
struct OverlapJob {
  OverlapResult* results;  ///< of the warpgroups of all blocks
  std::uint64_t clocks;    ///< that each works, at least
  std::uint32_t product_groups;
  std::uint32_t inside;
};

inline constexpr unsigned kOverlapGroups = 3;  ///< of a block, at most
/// A warpgroup's round: so many products with the bodies beside them, or so many bodies.
inline constexpr unsigned kOverlapRound = 8;
/// A body: so many instructions of each thread.
inline constexpr unsigned kOverlapBody = 32;
/// A product: so many wgmma.m64n48k32, the left operand in registers.
inline constexpr unsigned kOverlapSteps = 4;
inline constexpr unsigned kOverlapFours = 3;
/// Products of bytes in it.
inline constexpr unsigned kOverlapProduct = 64 * (16 * kOverlapFours) * (32 * kOverlapSteps);

inline constexpr unsigned kOverlapThreads = 128;  ///< of a warpgroup
/// Shared memory: the matrix of the products, then 16 bytes for each thread.
inline constexpr unsigned kOverlapMatrixBytes = kOverlapSteps * kOverlapFours * 512;
inline constexpr unsigned kOverlapSharedBytes = kOverlapMatrixBytes + 16 * kOverlapGroups * kOverlapThreads;

}  // namespace manymod::bench

/// KIND(name, types in kernels.cu...): of the instructions that a body has by turns.
#define MM_OVERLAP_KINDS(KIND)            \
  KIND(imad, Imad)                        \
  KIND(imad_wide, ImadWide)               \
  KIND(imad_hi, ImadHi)                   \
  KIND(iadd3, Iadd3)                      \
  KIND(lop3, Lop3)                        \
  KIND(shf, Shf)                          \
  KIND(ffma, Ffma)                        \
  KIND(dfma, Dfma)                        \
  KIND(lds128, Lds128)                    \
  KIND(shfl_own, Shuffle<Lanes::own>)     \
  KIND(shfl_one, Shuffle<Lanes::one>)     \
  KIND(shfl_quad, Shuffle<Lanes::quad>)   \
  KIND(shfl_quads, Shuffle<Lanes::quads>) \
  KIND(shfl_any, Shuffle<Lanes::any>)     \
  KIND(imad_wide_imad, ImadWide, Imad)    \
  KIND(imad_wide_lop3, ImadWide, Lop3)    \
  KIND(imad_wide_ffma, ImadWide, Ffma)    \
  KIND(imad_wide_dfma, Dfma, ImadWide)    \
  KIND(imad_hi_dfma, ImadHi, Dfma)        \
  KIND(imad_dfma, Imad, Dfma)
