// SPDX-License-Identifier: Apache-2.0
// Products and Montgomery reductions of multiprecision numbers by 16-bit multiplications, in two passes.
//
// The product of two 16-bit halves is a 32-bit word. Low by low and high by high half are at the position of
// a word ("aligned"); low by high and high by low are half a word higher ("unaligned"). The first pass sums
// all unaligned products as if they were aligned, then the sum is shifted by half a word, and the second pass
// adds the aligned products. Carries thus propagate along rows of whole words and no product has to be split.
//
// After Emmart, Luitjens, Weems, Woolley, "Optimizing Modular Multiplication for NVIDIA's Maxwell GPUs",
// figures 4 to 7. In the paper's notation LH(b, A) is the row of products low(b) high(A[j]), and likewise LL,
// HL and HH. Here B = 2^32 and R = B^kWords.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/halves.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"

namespace manymod::two_pass16 {

/// A number as the halves of its words: word j is high[j] 2^16 + low[j], each half below 2^16.
template <unsigned kWords>
struct Halves {
  std::uint32_t low[kWords];
  std::uint32_t high[kWords];
};

/// The halves of the words a[0..kWords).
template <unsigned kWords>
MM_DEVICE Halves<kWords> halves_of(const std::uint32_t* a) {
  Halves<kWords> r;
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) {
    r.low[j] = cuda::low_half(a[j]);
    r.high[j] = cuda::high_half(a[j]);
  }
  return r;
}

/// sum[j] += b a[j] for first <= j < kWords, and sum[first] += addend, as one carry chain. On input: a[j], b,
/// addend < 2^16; first < kWords. On output: the carry flag holds the carry out of the last word.
template <unsigned kWords>
MM_DEVICE void add_row(std::uint32_t* sum, unsigned first, const std::uint32_t* a, std::uint32_t b,
                       std::uint32_t addend) {
  sum[first] = cuda::add_cc(sum[first], cuda::mad_halves(a[first], b, addend));
  MM_UNROLL
  for (unsigned j = first + 1; j < kWords; ++j) {
    sum[j] = cuda::addc_cc(sum[j], cuda::mad_halves(a[j], b, 0));
  }
}

/// p = p 2^16. On input: p < 2^(64 kWords - 16), in 2 kWords words.
template <unsigned kWords>
MM_DEVICE void shift_half_word(std::uint32_t* p) {
  MM_UNROLL
  for (unsigned j = 2 * kWords; j-- > 1;) p[j] = cuda::straddling_word(p[j - 1], p[j]);
  p[0] = cuda::straddling_word(0, p[0]);
}

/// p = a b in 2 kWords words (figure 6). On input: a, b < R. Aliasing: p overlaps neither a nor b.
///
/// Bounds. A row is at most (2^16 - 1)^2 (R - 1) / (B - 1) = (1 - 2 / (2^16 + 1)) (R - 1).
///
/// First pass: the rows LH and HL of b[i] are at words i to i + kWords - 1. All rows up to the i-th sum to
/// less than 2 R B^i. Word i + kWords, which is 0 before, therefore receives at most 1 from the carries of
/// both rows.
///
/// Second pass: the row LL of b[i] is at words i to i + kWords - 1, the row HH one word higher. All rows up
/// to the i-th sum to less than R B^(i+1), and so do the words that were there before. Therefore `carry`,
/// which has the weight of word i + 1 + kWords and is held until a row reaches that word, is at most 1.
template <unsigned kWords>
MM_DEVICE void multiply(std::uint32_t* p, const std::uint32_t* a, const std::uint32_t* b) {
  const Halves<kWords> half = halves_of<kWords>(a);
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) p[j] = cuda::mad_halves(half.high[j], cuda::low_half(b[0]), 0);
  add_row<kWords>(p, 0, half.low, cuda::high_half(b[0]), 0);
  p[kWords] = cuda::addc(0, 0);
  MM_UNROLL
  for (unsigned i = 1; i < kWords; ++i) {
    add_row<kWords>(p + i, 0, half.high, cuda::low_half(b[i]), 0);
    p[i + kWords] = cuda::addc(0, 0);
    add_row<kWords>(p + i, 0, half.low, cuda::high_half(b[i]), 0);
    p[i + kWords] = cuda::addc(p[i + kWords], 0);
  }
  shift_half_word<kWords>(p);
  std::uint32_t carry = 0;
  MM_UNROLL
  for (unsigned i = 0; i < kWords; ++i) {
    add_row<kWords>(p + i, 0, half.low, cuda::low_half(b[i]), 0);
    p[i + kWords] = cuda::addc_cc(p[i + kWords], carry);
    carry = cuda::addc(0, 0);
    add_row<kWords>(p + i + 1, 0, half.high, cuda::high_half(b[i]), 0);
    carry = cuda::addc(carry, 0);
  }
}

/// p = sum over i < j of a[i] a[j] B^(i+j), plus sum over i of low(a[i]) high(a[i]) 2^16 B^(2i): the part of
/// a^2 that counts twice, so p < R^2 / 2. Rows, carries and bounds are those of multiply, without the
/// products below the diagonal.
template <unsigned kWords>
MM_DEVICE void multiply_above_diagonal(std::uint32_t* p, const Halves<kWords>& a) {
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) p[j] = cuda::mad_halves(a.high[j], a.low[0], 0);
  MM_UNROLL
  for (unsigned i = 0; i < kWords; ++i) {
    p[i + kWords] = 0;
    if (i > 0) {
      add_row<kWords>(p + i, i, a.high, a.low[i], 0);
      p[i + kWords] = cuda::addc(0, 0);
    }
    if (i + 1 < kWords) {
      add_row<kWords>(p + i, i + 1, a.low, a.high[i], 0);
      p[i + kWords] = cuda::addc(p[i + kWords], 0);
    }
  }
  shift_half_word<kWords>(p);
  std::uint32_t carry = 0;
  MM_UNROLL
  for (unsigned i = 0; i + 1 < kWords; ++i) {
    add_row<kWords>(p + i, i + 1, a.low, a.low[i], 0);
    p[i + kWords] = cuda::addc_cc(p[i + kWords], carry);
    carry = cuda::addc(0, 0);
    add_row<kWords>(p + i + 1, i + 1, a.high, a.high[i], 0);
    carry = cuda::addc(carry, 0);
  }
  p[2 * kWords - 1] += carry;
}

/// p = a^2 in 2 kWords words, with 2 kWords^2 + kWords half-word products where multiply has 4 kWords^2. On
/// input: a < R. Aliasing: p does not overlap a.
///
/// The paper mentions this squaring and omits its details. As in row-oriented squaring, the products above
/// the diagonal are summed once and doubled, then those on the diagonal are added. The two unaligned products
/// of a diagonal position are equal, so one of them is summed with the part that is doubled.
template <unsigned kWords>
MM_DEVICE void square(std::uint32_t* p, const std::uint32_t* a) {
  const Halves<kWords> half = halves_of<kWords>(a);
  multiply_above_diagonal<kWords>(p, half);
  MM_UNROLL
  for (unsigned j = 2 * kWords; j-- > 1;) p[j] = cuda::shift_left(p[j - 1], p[j], 1);
  p[0] <<= 1;
  p[0] = cuda::add_cc(p[0], cuda::mad_halves(half.low[0], half.low[0], 0));
  p[1] = cuda::addc_cc(p[1], cuda::mad_halves(half.high[0], half.high[0], 0));
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) {
    p[2 * j] = cuda::addc_cc(p[2 * j], cuda::mad_halves(half.low[j], half.low[j], 0));
    p[2 * j + 1] = cuda::addc_cc(p[2 * j + 1], cuda::mad_halves(half.high[j], half.high[j], 0));
  }
}

/// r + overflow R = (x + q n) / R, for the q < R that makes it an integer (figure 7).
///
/// On input: x < R^2 in 2 kWords words; n < R, odd, as halves; n0 = -1/n mod 2^16. On output: the result is
/// below R + n; x is destroyed. Aliasing: r does not overlap x.
/// @return overflow, 0 or 1
///
/// `unaligned` (the paper's U) sums the unaligned products of q n, half a word above x. When the lower half
/// of the lowest word of one sum has become 0, its upper half moves to the other sum, as the addend of a
/// row's first product. Invariants of a round:
///
/// - unaligned < 2 R / B before the round, since before its shift it is a number below R plus a row LL;
/// - the row LH of q is at most (R - 1) (1 - 2 / (2^16 + 1)), so its sum with `unaligned` is below R and the
///   row has no carry out;
/// - `carry`, which has the weight of word i + kWords of x, is at most 1, as in multiply.
template <unsigned kWords>
MM_DEVICE std::uint32_t reduce(std::uint32_t* r, std::uint32_t* x, const Halves<kWords>& n,
                               std::uint32_t n0) {
  std::uint32_t unaligned[kWords];
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) unaligned[j] = 0;
  std::uint32_t carry = 0;
  MM_UNROLL
  for (unsigned i = 0; i < kWords; ++i) {
    const std::uint32_t q_low = cuda::low_half(x[i] * n0);
    add_row<kWords>(x + i, 0, n.low, q_low, 0);
    x[i + kWords] = cuda::addc_cc(x[i + kWords], carry);
    carry = cuda::addc(0, 0);
    add_row<kWords>(unaligned, 0, n.high, q_low, cuda::high_half(x[i]));

    const std::uint32_t q_high = cuda::low_half(unaligned[0] * n0);
    add_row<kWords>(unaligned, 0, n.low, q_high, 0);
    const std::uint32_t top = cuda::addc(0, 0);
    add_row<kWords>(x + i + 1, 0, n.high, q_high, cuda::high_half(unaligned[0]));
    carry = cuda::addc(carry, 0);
    MM_UNROLL
    for (unsigned j = 0; j + 1 < kWords; ++j) unaligned[j] = unaligned[j + 1];
    unaligned[kWords - 1] = top;
  }
  r[0] = cuda::add_cc(x[kWords], cuda::straddling_word(0, unaligned[0]));
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) {
    r[j] = cuda::addc_cc(x[kWords + j], cuda::straddling_word(unaligned[j - 1], unaligned[j]));
  }
  return cuda::addc(carry, 0);
}

}  // namespace manymod::two_pass16
