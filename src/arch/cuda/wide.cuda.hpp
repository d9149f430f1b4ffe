// SPDX-License-Identifier: Apache-2.0
// 64-bit sums of products of 32-bit words that compile to one instruction each.
//
// On current devices mad.wide.u32 in PTX becomes a product and two additions, while mad.lo.cc and madc.hi
// with the same operands, adjacent to each other, become one IMAD.WIDE.U32.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// A 64-bit integer, hi 2^32 + lo.
struct Wide {
  std::uint32_t lo = 0;
  std::uint32_t hi = 0;
};

/// a b.
MM_DEVICE Wide multiply(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t product = std::uint64_t{a} * b;
  return {static_cast<std::uint32_t>(product), static_cast<std::uint32_t>(product >> 32)};
}

/// a b, as one instruction where its words become operands of carry chains: there compilers add 0 to the high
/// word of the product above.
MM_DEVICE Wide multiply_whole(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  Wide r;
  asm("{.reg .u64 product;\n\tmul.wide.u32 product, %2, %3;\n\tmov.b64 {%0, %1}, product;}"
      : "=r"(r.lo), "=r"(r.hi)
      : "r"(a), "r"(b));
  return r;
#else
  return multiply(a, b);
#endif
}

/// a b + c mod 2^64.
MM_DEVICE Wide multiply_add(std::uint32_t a, std::uint32_t b, Wide c) {
#if defined(__CUDA_ARCH__)
  Wide r;
  asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, %5;"
      : "=&r"(r.lo), "=r"(r.hi)
      : "r"(a), "r"(b), "r"(c.lo), "r"(c.hi));
  return r;
#else
  const std::uint64_t sum = std::uint64_t{a} * b + (std::uint64_t{c.hi} << 32 | c.lo);
  return {static_cast<std::uint32_t>(sum), static_cast<std::uint32_t>(sum >> 32)};
#endif
}

}  // namespace manymod::cuda
