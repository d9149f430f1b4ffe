// SPDX-License-Identifier: Apache-2.0
// Montgomery products in two passes by a group of threads: the distributed approach of Emmart, Luitjens,
// Weems, Woolley (section II of their paper), with the two sums of their reduction (figure 7).
//
// The columns are divided among the lanes of the group, and the sum moves down by one word per row. Each row
// of the product is followed by a row of the reduction, so that the word that leaves lane 0 is 0 and no lane
// has to store the lower half of the product. The unaligned products of both rows are summed half a word
// above the sum of the aligned ones. Each row is computed in two passes, unaligned products first, no product
// is split, and the shift by half a word is done once, after the last row. Carries between lanes are
// deferred: until then they stay in their lane. Lanes exchange four words per row: a word of b, the two
// halves of a quotient word, and the lowest word of the sum.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/halves.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "modmul/two_pass16/passes.cuda.hpp"

namespace manymod::two_pass16 {

/// A lane's part of a sum: sum_j aligned[j] B^j + 2^16 sum_j unaligned[j] B^j.
///
/// Invariants between rows: aligned[kWords] <= 3, unaligned[kWords] = 0, unaligned[kWords - 1] <= 4. During a
/// row, word kWords of `aligned` receives the highest products of two rows HH, each at most (2^16 - 1)^2 =
/// 2^32 - 2^17 + 1, four carries, the lowest word of the lane above, and, in a square, one more word: less
/// than 4 2^32 in all, so at most 3 remains above it when it has become word kWords - 1. Before the row HH of
/// q it is below 2^32. `unaligned` receives four rows, whose carries are added in word kWords.
template <unsigned kWords>
struct LaneSums {
  std::uint32_t aligned[kWords + 1] = {};
  std::uint32_t unaligned[kWords + 1] = {};
};

/// s += b (a - a mod B^first). On input: first < kWords.
template <unsigned kWords>
MM_DEVICE void add_product_row(LaneSums<kWords>& s, const Halves<kWords>& a, unsigned first,
                               std::uint32_t b) {
  const std::uint32_t low = cuda::low_half(b);
  const std::uint32_t high = cuda::high_half(b);
  add_row<kWords>(s.unaligned, first, a.high, low, 0);
  s.unaligned[kWords] = cuda::addc(s.unaligned[kWords], 0);
  add_row<kWords>(s.unaligned, first, a.low, high, 0);
  s.unaligned[kWords] = cuda::addc(s.unaligned[kWords], 0);
  add_row<kWords>(s.aligned, first, a.low, low, 0);
  s.aligned[kWords] = cuda::addc(s.aligned[kWords], 0);
  add_row<kWords>(s.aligned + 1, first, a.high, high, 0);
}

/// s = (s + q n) / B over all lanes, for the q < B that makes it an integer: one round of figure 7. On input:
/// n0 = -1/n mod 2^16 in lane 0.
///
/// In every lane the upper half of the lowest word of one sum moves to the other sum, as the paper does for
/// one thread. The lower halves that remain form one word, which goes to the lane below. In lane 0 that word
/// is 0; the last lane receives it.
template <unsigned kWords, class Group>
MM_DEVICE void reduce_row(const Group& group, LaneSums<kWords>& s, const Halves<kWords>& n,
                          std::uint32_t n0) {
  const std::uint32_t q_low = group.shuffle(cuda::low_half(s.aligned[0] * n0), 0);
  add_row<kWords>(s.aligned, 0, n.low, q_low, 0);
  s.aligned[kWords] = cuda::addc(s.aligned[kWords], 0);
  add_row<kWords>(s.unaligned, 0, n.high, q_low, cuda::high_half(s.aligned[0]));
  s.unaligned[kWords] = cuda::addc(s.unaligned[kWords], 0);

  const std::uint32_t q_high = group.shuffle(cuda::low_half(s.unaligned[0] * n0), 0);
  add_row<kWords>(s.unaligned, 0, n.low, q_high, 0);
  s.unaligned[kWords] = cuda::addc(s.unaligned[kWords], 0);
  add_row<kWords>(s.aligned + 1, 0, n.high, q_high, cuda::high_half(s.unaligned[0]));
  const std::uint32_t carry = cuda::addc(0, 0);

  const std::uint32_t outgoing = cuda::low_half(s.aligned[0]) | s.unaligned[0] << 16;
  const std::uint32_t incoming = group.from_above(outgoing);
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) {
    s.aligned[j] = s.aligned[j + 1];
    s.unaligned[j] = s.unaligned[j + 1];
  }
  s.unaligned[kWords] = 0;
  s.aligned[kWords - 1] = cuda::add_cc(s.aligned[kWords - 1], incoming);
  s.aligned[kWords] = cuda::addc(carry, 0);
}

/// s += word B^(kWords-1). Adds the word that a row of a square has above the lane, at its position after
/// reduce_row.
template <unsigned kWords>
MM_DEVICE void add_word_above(LaneSums<kWords>& s, std::uint32_t word) {
  s.aligned[kWords - 1] = cuda::add_cc(s.aligned[kWords - 1], word);
  s.aligned[kWords] = cuda::addc(s.aligned[kWords], 0);
}

/// r + overflow B^kWords = s. On input: s between rows. @return overflow, 0 to 4
template <unsigned kWords>
MM_DEVICE std::uint32_t shift_and_merge(std::uint32_t* r, const LaneSums<kWords>& s) {
  r[0] = cuda::add_cc(s.aligned[0], cuda::straddling_word(0, s.unaligned[0]));
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) {
    r[j] = cuda::addc_cc(s.aligned[j], cuda::straddling_word(s.unaligned[j - 1], s.unaligned[j]));
  }
  return cuda::addc(s.aligned[kWords], 0);
}

/// The halves of 2 a for a lane's own words, without the bit shifted out, which is the top bit of a.
template <unsigned kWords>
MM_DEVICE Halves<kWords> doubled_halves_of(const std::uint32_t* a) {
  std::uint32_t doubled[kWords];
  doubled[0] = a[0] << 1;
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) doubled[j] = cuda::shift_left(a[j - 1], a[j], 1);
  return halves_of<kWords>(doubled);
}

/// (a b + q n) / R over all lanes, R = B^(kWords kSize), for the q < R that makes it an integer. On input: a,
/// b < R; n < R, odd, as halves; n0 = -1/n mod 2^16 in lane 0. On output: the result is below R + n.
template <unsigned kWords, class Group>
MM_DEVICE LaneSums<kWords> multiply_and_reduce(const Group& group, const std::uint32_t* a,
                                               const std::uint32_t* b, const Halves<kWords>& n,
                                               std::uint32_t n0) {
  LaneSums<kWords> s;
  const Halves<kWords> half = halves_of<kWords>(a);
  MM_ROLLED
  for (unsigned source = 0; source < Group::kSize; ++source) {
    MM_UNROLL
    for (unsigned i = 0; i < kWords; ++i) {
      add_product_row(s, half, 0, group.shuffle(b[i], source));
      reduce_row(group, s, n, n0);
    }
  }
  return s;
}

/// The same for a^2, with half of the products of words; one product per row and lane is computed twice.
///
/// A square is the sum of the products of word i of lane s and word j of lane t over all (s, i) and (t, j).
/// In the row of word (s, i), lane t adds the products with j > i doubled and the product with j = i once; a
/// pair with i = j and s != t thus occurs in two rows. A row has kWords - i words in each lane, the same
/// number in all lanes, where a product has kWords.
template <unsigned kWords, class Group>
MM_DEVICE LaneSums<kWords> square_and_reduce(const Group& group, const std::uint32_t* a,
                                             const Halves<kWords>& n, std::uint32_t n0) {
  LaneSums<kWords> s;
  const Halves<kWords> doubled = doubled_halves_of<kWords>(a);
  const std::uint32_t above = 0 - (a[kWords - 1] >> 31);
  MM_ROLLED
  for (unsigned source = 0; source < Group::kSize; ++source) {
    Halves<kWords> row = doubled;
    MM_UNROLL
    for (unsigned i = 0; i < kWords; ++i) {
      // Row i is a[i] + 2 a[i + 1] B + ..: 2 a, without the bit in word i + 1 that belongs to 2 a[i].
      row.low[i] = cuda::low_half(a[i]);
      row.high[i] = cuda::high_half(a[i]);
      if (i + 1 < kWords) row.low[i + 1] &= ~1u;
      const std::uint32_t word = group.shuffle(a[i], source);
      add_product_row(s, row, i, word);
      reduce_row(group, s, n, n0);
      if (i + 1 < kWords) add_word_above(s, word & above);
    }
  }
  return s;
}

}  // namespace manymod::two_pass16
