// SPDX-License-Identifier: Apache-2.0
// Montgomery products in two passes by a group of threads: the paper's distributed approach (its section II),
// with the two sums of its reduction (figure 7).
//
// A group divides the columns among its lanes, and the sum moves down by a word a row. A row of the reduction
// follows each row of the product, so that the word that leaves lane 0 is 0 and no lane has to keep the lower
// half of the product. The unaligned products of both rows go into one sum, which stands half a word above
// the other, that of the aligned ones: each row is taken in two passes, unaligned products first, no product
// is split, and the half-word shift is made once, when all rows are done. Carries are delayed: they stay in
// their lane until then. Lanes exchange four words a row: b's, the halves of the quotient, and the lowest.
#pragma once

#include <cstdint>

#include "arch/cuda/halves.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "modmul/two_pass16/passes.cuda.hpp"

namespace manymod::two_pass16 {

/// A lane's part of a sum: sum_j aligned[j] B^j + 2^16 sum_j unaligned[j] B^j.
///
/// Between rows aligned[kWords] <= 3, unaligned[kWords] = 0 and unaligned[kWords - 1] <= 4. Until the next
/// ones word kWords of `aligned` takes the ends of two rows HH, each at most (2^16 - 1)^2 = 2^32 - 2^17 + 1,
/// four carries, the lowest word of the lane above, and a word that a square has there: less than 4 2^32, so
/// that 3 is left at most when it is word kWords - 1. It is below 2^32 before the row HH of q. `unaligned`
/// takes four rows, the carry of each in word kWords.
template <unsigned kWords>
struct LaneSums {
  std::uint32_t aligned[kWords + 1] = {};
  std::uint32_t unaligned[kWords + 1] = {};
};

/// s += b (a without its words below `first`). In: first < kWords
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

/// s = (s + q n) / B over all lanes, for the q < B that makes it an integer: a round of figure 7. n0 = -1/n
/// mod 2^16 in lane 0.
///
/// The upper halves of the lowest words go over from one sum to the other in all lanes, as the paper has it
/// for one thread. What is left in the lower halves is a word, which goes to the lane below. In lane 0 it is
/// 0, which the last lane gets.
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

/// s += word B^(kWords-1): where what a row has above the lane stands after reduce_row.
template <unsigned kWords>
MM_DEVICE void add_word_above(LaneSums<kWords>& s, std::uint32_t word) {
  s.aligned[kWords - 1] = cuda::add_cc(s.aligned[kWords - 1], word);
  s.aligned[kWords] = cuda::addc(s.aligned[kWords], 0);
}

/// r + overflow B^kWords = s between rows. @return overflow, 0 to 4
template <unsigned kWords>
MM_DEVICE std::uint32_t shift_and_merge(std::uint32_t* r, const LaneSums<kWords>& s) {
  r[0] = cuda::add_cc(s.aligned[0], cuda::straddling_word(0, s.unaligned[0]));
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) {
    r[j] = cuda::addc_cc(s.aligned[j], cuda::straddling_word(s.unaligned[j - 1], s.unaligned[j]));
  }
  return cuda::addc(s.aligned[kWords], 0);
}

/// The halves of 2 a for a lane's own words, but for what it has above them: the top bit of a.
template <unsigned kWords>
MM_DEVICE Halves<kWords> doubled_halves_of(const std::uint32_t* a) {
  std::uint32_t doubled[kWords];
  doubled[0] = a[0] << 1;
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) doubled[j] = cuda::shift_left(a[j - 1], a[j], 1);
  return halves_of<kWords>(doubled);
}

/// (a b + q n) / R over all lanes, R = B^(kWords kSize), for the q < R that makes it an integer. In: a, b <
/// R; n < R by its halves. The result is below R + n.
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

/// The same for a^2, with half of the products of words, and one in each lane that is made twice.
///
/// A square is the sum of the products of words (s, i) and (t, j), word i of lane s and j of lane t, over all
/// of both. Lane t takes those with j > i, doubled, in the row of word (s, i), and with j = i once: the
/// products with i = j but s != t come up in two rows. So a row has kWords - i words in each lane, the same
/// for all, in the place where a product has kWords.
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
      // a[i] + 2 a[i + 1] B + ..: 2 a, but for the bit that comes from a[i] in word i + 1.
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
