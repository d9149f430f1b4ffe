// SPDX-License-Identifier: Apache-2.0
// Sums of numbers of 32-bit words, and of multiples 0 and 1 of a prime (reductions.cuda.hpp), and signs of
// words. Constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"

namespace manymod::special_primes {

/// The sign of a word above the highest one of a number, in two's complement.
enum class TopSign { not_negative, not_positive, any };

/// All ones if the number in two's complement is negative.
MM_DEVICE constexpr std::uint32_t sign_mask(std::uint32_t number) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(number) >> 31);
}

/// t[from .. kEnd) += u[0 .. kCount), a carry chain to the end. @return the carry out.
template <unsigned kEnd, unsigned kCount>
MM_DEVICE std::uint32_t add_words(std::uint32_t* t, unsigned from, const std::uint32_t* u) {
  t[from] = cuda::add_cc(t[from], u[0]);
  MM_UNROLL
  for (unsigned j = 1; from + j < kEnd; ++j) {
    t[from + j] = cuda::addc_cc(t[from + j], j < kCount ? u[j] : 0);
  }
  return cuda::addc(0, 0);
}

/// r - c p, kWords words. On input: c is 0 or 1. @return the borrow.
template <class Prime>
MM_DEVICE std::uint32_t subtract_if(std::uint32_t* r, std::uint32_t c) {
  const std::uint32_t mask = 0 - c;
  r[0] = cuda::sub_cc(r[0], mask & Prime::word(0));
  MM_UNROLL
  for (unsigned j = 1; j < Prime::kWords; ++j) r[j] = cuda::subc_cc(r[j], mask & Prime::word(j));
  return cuda::subc(0, 0) & 1;
}
/// r + c p. @return the carry.
template <class Prime>
MM_DEVICE std::uint32_t add_if(std::uint32_t* r, std::uint32_t c) {
  const std::uint32_t mask = 0 - c;
  r[0] = cuda::add_cc(r[0], mask & Prime::word(0));
  MM_UNROLL
  for (unsigned j = 1; j < Prime::kWords; ++j) r[j] = cuda::addc_cc(r[j], mask & Prime::word(j));
  return cuda::addc(0, 0);
}

}  // namespace manymod::special_primes
