// SPDX-License-Identifier: Apache-2.0
// Whole products and squares of numbers of kWords 32-bit words by one thread: all 2 kWords words, before a
// reduction that knows its prime.
//
// The product of words i and j occupies words i + j and i + j + 1 of the result. Products at even positions
// do not overlap each other, nor do those at odd positions: each of the two sets has an accumulator and carry
// chains of its own, as in modmul/row32/accumulator.cuda.hpp. Here rows are not shifted, and after the last
// row the accumulators are added once.
//
// Carries. Row i, the products of word i of b, ends at position i + kWords - 1 in the accumulator of that
// parity, and one position lower in the other. In the former no row before it wrote to that pair of words but
// for a carry of 1: word (2^32 - 1)^2 + 1 + carry < 2^64, so nothing is carried out. In the latter the row
// before ended at the same pair, and the carry goes to the word above, which is 0.
//
// Order in machine code. ptxas 13.0 interleaves products that do not depend on each other. With the carry
// chains of many it runs out of the seven predicate registers, which hold the carries, and moves carries to
// and from bits of other registers: without an order these moves are a quarter of the instructions of a point
// addition on P-256. So a product returns a zero that compilers do not know to be one, the carry out of a
// number that has none, and the next one, which shall follow it, adds that to a factor.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"

namespace manymod::special_primes {

/// sum_p even[p] B^p + sum_p odd[p] B^(p + 1), B = 2^32.
template <unsigned kWords>
struct Accumulators {
  std::uint32_t even[2 * kWords];
  std::uint32_t odd[2 * kWords];
};

/// sum += the products of `b` with a[j], first <= j < kWords, at positions of parity kParity. On input: row i
/// follows row i - 1 with the same or a lower `first`.
template <unsigned kParity, unsigned kWords>
MM_DEVICE void add_chain(Accumulators<kWords>& s, const std::uint32_t* a, std::uint32_t b, unsigned i,
                         unsigned first) {
  std::uint32_t* const sum = kParity == 0 ? s.even : s.odd;
  const unsigned start = first + (first + i + kParity) % 2;
  if (start >= kWords) return;
  MM_UNROLL
  for (unsigned j = start; j < kWords; j += 2) {
    std::uint32_t* const pair = sum + (i + j - kParity);
    if (j == start) {
      cuda::mad_wide_cc(pair[0], pair[1], a[j], b, pair[0], pair[1]);
    } else {
      cuda::madc_wide_cc(pair[0], pair[1], a[j], b, pair[0], pair[1]);
    }
  }
  const bool ends_below_the_top = (i + kWords - 1) % 2 != kParity;
  if (i > 0 && ends_below_the_top) {
    std::uint32_t* const above = sum + (i + kWords - kParity);
    *above = cuda::addc(*above, 0);
  }
}

/// t = even + odd B, 2 kWords words. On input: the sum fits. @return the carry, 0.
template <unsigned kWords>
MM_DEVICE std::uint32_t merge(std::uint32_t* t, const Accumulators<kWords>& s) {
  t[0] = s.even[0];
  t[1] = cuda::add_cc(s.even[1], s.odd[0]);
  MM_UNROLL
  for (unsigned p = 2; p + 1 < 2 * kWords; ++p) t[p] = cuda::addc_cc(s.even[p], s.odd[p - 1]);
  t[2 * kWords - 1] = cuda::addc_cc(s.even[2 * kWords - 1], s.odd[2 * kWords - 2]);
  return cuda::addc(0, 0);
}

/// t[0 .. 2 kWords) = a b. kWords^2 wide products. On input: `zero` is 0, and of a product that precedes this
/// one. Aliasing: t is neither a nor b. @return 0.
template <unsigned kWords>
MM_DEVICE std::uint32_t multiply(std::uint32_t* t, const std::uint32_t* a, const std::uint32_t* b,
                                 std::uint32_t zero = 0) {
  Accumulators<kWords> s = {};
  MM_UNROLL
  for (unsigned i = 0; i < kWords; ++i) {
    const std::uint32_t factor = i == 0 ? b[0] + zero : b[i];
    add_chain<0>(s, a, factor, i, 0);
    add_chain<1>(s, a, factor, i, 0);
  }
  return merge(t, s);
}

/// t[0 .. 2 kWords) = a^2: twice the products of words i < j, and the squares of words. kWords (kWords + 1) /
/// 2 wide products. `zero`, aliasing and result: as above.
template <unsigned kWords>
MM_DEVICE std::uint32_t square(std::uint32_t* t, const std::uint32_t* a, std::uint32_t zero = 0) {
  Accumulators<kWords> s = {};
  MM_UNROLL
  for (unsigned i = 0; i + 1 < kWords; ++i) {
    const std::uint32_t factor = i == 0 ? a[0] + zero : a[i];
    add_chain<0>(s, a, factor, i, i + 1);
    add_chain<1>(s, a, factor, i, i + 1);
  }
  std::uint32_t cross[2 * kWords];
  merge(cross, s);
  t[0] = 0;  // cross[0] is 0
  MM_UNROLL
  for (unsigned p = 1; p < 2 * kWords; ++p) t[p] = cuda::shift_left(cross[p - 1], cross[p], 1);
  cuda::mad_wide_cc(t[0], t[1], a[0], a[0], t[0], t[1]);
  MM_UNROLL
  for (unsigned i = 1; i < kWords; ++i) {
    cuda::madc_wide_cc(t[2 * i], t[2 * i + 1], a[i], a[i], t[2 * i], t[2 * i + 1]);
  }
  return cuda::addc(0, 0);
}

}  // namespace manymod::special_primes
