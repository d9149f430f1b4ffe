// SPDX-License-Identifier: Apache-2.0
// 16-bit halves of 32-bit words, their products and their places. PTX on the device, plain C++ on the host.
//
// Maxwell's XMAD selected halves, multiplied, added and carried in one instruction, and ptxas made it of
// mul.wide.u16 and addc.cc. Later devices have no such instruction: for that sequence ptxas takes the halves
// out anew beside each product. So halves are taken out once, into words of their own, and a product is one
// IMAD (full rate, unlike IMAD.WIDE) whose sum goes into a carry chain of words.hpp (IADD3.X, on another
// pipe).
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// Low half of a word. @return below 2^16
MM_DEVICE std::uint32_t low_half(std::uint32_t a) { return a & 0xffffu; }

/// High half of a word. @return below 2^16
MM_DEVICE std::uint32_t high_half(std::uint32_t a) { return a >> 16; }

/// a b + addend. In: a, b, addend < 2^16, so it is at most 2^32 - 2^16. Leaves the carry as it is.
MM_DEVICE std::uint32_t mad_halves(std::uint32_t a, std::uint32_t b, std::uint32_t addend) {
#if defined(__CUDA_ARCH__)
  std::uint32_t r;  // in PTX, so that no range is known by which the halves would be masked again
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(addend));
  return r;
#else
  return a * b + addend;
#endif
}

/// The word that straddles two: high half of `below` in its low half, low half of `above` in its high half.
MM_DEVICE std::uint32_t straddling_word(std::uint32_t below, std::uint32_t above) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(below, above, 0x5432);
#else
  return (below >> 16) | (above << 16);
#endif
}

}  // namespace manymod::cuda
