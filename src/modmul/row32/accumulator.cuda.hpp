// SPDX-License-Identifier: Apache-2.0
// Rows of 32-bit products summed with carry chains: sum += a b, where a is a lane's part of a number and b is
// one word.
//
// The product of a[i] and b occupies words i and i + 1 of the sum. Products with even i do not overlap each
// other, nor do products with odd i. Each of the two sets therefore has its own accumulator and its own carry
// chain, and no word is shifted. After Emmart, Luitjens, Weems, Woolley, "Optimizing Modular Multiplication
// for NVIDIA's Maxwell GPUs" (the row-oriented approach, figure 2). Even and odd accumulators replace the
// paper's separate rows of low and high products, since one instruction now yields both halves of a product.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"

namespace manymod::row32 {

/// Represents sum_j even[j] B^j + sum_j odd[j] B^(j+1) + top B^(kWords+1), with B = 2^32. kWords is even, so
/// that the last word of `odd` is one position above the last word of `even`.
template <unsigned kWords>
struct Accumulator {
  static_assert(kWords >= 2 && kWords % 2 == 0);
  std::uint32_t even[kWords];
  std::uint32_t odd[kWords];
  std::uint32_t top;
};

/// sum[j - offset], sum[j + 1 - offset] += a[j] b for j = first, first + 2, .. < kWords, as one carry chain.
/// On input: first < kWords. On output: the carry flag holds the carry out of the last product.
template <unsigned kWords, class Words>
MM_DEVICE void add_products(std::uint32_t* sum, unsigned offset, unsigned first, const Words& a,
                            std::uint32_t b) {
  MM_UNROLL
  for (unsigned j = first; j < kWords; j += 2) {
    std::uint32_t* const pair = sum + (j - offset);
    if (j == first) {
      cuda::mad_wide_cc(pair[0], pair[1], a[j], b, pair[0], pair[1]);
    } else {
      cuda::madc_wide_cc(pair[0], pair[1], a[j], b, pair[0], pair[1]);
    }
  }
}

/// odd[j - 1], odd[j] += a[j] b for all odd j, as one carry chain. On input: the carry flag is added at
/// odd[0]. On output: the carry flag holds the carry out of the last product.
template <unsigned kWords, class Words>
MM_DEVICE void add_odd_products_and_carry(std::uint32_t* odd, const Words& a, std::uint32_t b) {
  MM_UNROLL
  for (unsigned j = 1; j < kWords; j += 2) {
    cuda::madc_wide_cc(odd[j - 1], odd[j], a[j], b, odd[j - 1], odd[j]);
  }
}

/// s += a b. On input: s.top < 2^32 - 4; the exact sum then fits, since `top` counts its overflow.
template <unsigned kWords, class Words>
MM_DEVICE void add_row(Accumulator<kWords>& s, const Words& a, std::uint32_t b) {
  add_products<kWords>(s.odd, 1, 1, a, b);
  s.top = cuda::addc(s.top, 0);
  add_products<kWords>(s.even, 0, 0, a, b);
  s.odd[kWords - 1] = cuda::addc_cc(s.odd[kWords - 1], 0);
  s.top = cuda::addc(s.top, 0);
}

/// s = (s - s mod B) / B + incoming B^(kWords-1) + a b. Dividing by B exchanges the roles of the even and the
/// odd accumulators, so shift and row are one pass. s.even[0] is not read: callers have made it 0, or pass it
/// to the lane below.
///
/// On input: `incoming` is the lowest word of the lane above, which is at word kWords of this lane.
template <unsigned kWords, class Words>
MM_DEVICE void shift_and_add_row(Accumulator<kWords>& s, std::uint32_t incoming, const Words& a,
                                 std::uint32_t b) {
  std::uint32_t even[kWords];
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) even[j] = s.odd[j];
  std::uint32_t odd[kWords];
  MM_UNROLL
  for (unsigned j = 0; j + 2 < kWords; ++j) odd[j] = s.even[j + 2];
  odd[kWords - 2] = incoming;
  odd[kWords - 1] = s.top;

  even[0] = cuda::add_cc(even[0], s.even[1]);
  add_odd_products_and_carry<kWords>(odd, a, b);
  s.top = cuda::addc(0, 0);
  add_products<kWords>(even, 0, 0, a, b);
  odd[kWords - 1] = cuda::addc_cc(odd[kWords - 1], 0);
  s.top = cuda::addc(s.top, 0);
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) {
    s.even[j] = even[j];
    s.odd[j] = odd[j];
  }
}

/// r + overflow B^kWords = (s - s mod B) / B + incoming B^(kWords-1). Merges the two accumulators.
/// @return overflow
template <unsigned kWords>
MM_DEVICE std::uint32_t shift_and_merge(std::uint32_t* r, const Accumulator<kWords>& s,
                                        std::uint32_t incoming) {
  r[0] = cuda::add_cc(s.odd[0], s.even[1]);
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) {
    r[j] = cuda::addc_cc(s.odd[j], j + 1 < kWords ? s.even[j + 1] : incoming);
  }
  return cuda::addc(s.top, 0);
}

}  // namespace manymod::row32
