// SPDX-License-Identifier: Apache-2.0
// 16-bit halves of 32-bit words and their products. PTX on the device, plain C++ on the host. All are
// constant-time.
//
// Maxwell's XMAD selected halves, multiplied, added and carried in one instruction, and ptxas generated it
// from mul.wide.u16 and addc.cc. Later devices have no such instruction: from that sequence ptxas extracts
// the halves again for each product. Therefore halves are extracted once, into words of their own, and a
// product is one IMAD (full rate, unlike IMAD.WIDE), whose result is added to a carry chain of words.cuda.hpp
// (IADD3.X, on another pipe).
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// The low half of a word, below 2^16.
MM_DEVICE std::uint32_t low_half(std::uint32_t a) { return a & 0xffffu; }

/// The high half of a word, below 2^16.
MM_DEVICE std::uint32_t high_half(std::uint32_t a) { return a >> 16; }

/// a b + addend. On input: a, b, addend < 2^16, so the result is at most 2^32 - 2^16. Preserves the carry.
MM_DEVICE std::uint32_t mad_halves(std::uint32_t a, std::uint32_t b, std::uint32_t addend) {
#if defined(__CUDA_ARCH__)
  std::uint32_t r;  // in PTX, so that the compiler knows no range from which it would mask the halves again
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(addend));
  return r;
#else
  return a * b + addend;
#endif
}

/// The word that straddles two: the high half of `below` in its low half, the low half of `above` in its high
/// half.
MM_DEVICE std::uint32_t straddling_word(std::uint32_t below, std::uint32_t above) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(below, above, 0x5432);
#else
  return (below >> 16) | (above << 16);
#endif
}

}  // namespace manymod::cuda
