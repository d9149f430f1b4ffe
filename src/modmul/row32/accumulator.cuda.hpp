// SPDX-License-Identifier: Apache-2.0
// Rows of 32-bit products with carry chains: sum + a b for a lane's part of a and one word b.
//
// A product of words i and 0 covers words i and i + 1. Products with even i never overlap each other, nor do
// those with odd i: each kind is one carry chain of its own, in accumulators of its own, and nothing is
// shifted by hand. After Emmart, Luitjens, Weems, Woolley, "Optimizing Modular Multiplication for NVIDIA's
// Maxwell GPUs" (the row-oriented approach, fig. 2); even and odd accumulators replace its separate rows of
// low and high products, as one instruction yields both halves of a product now.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"

namespace manymod::row32 {

/// value = sum_j even[j] B^j + sum_j odd[j] B^(j+1) + top B^(kWords+1), B = 2^32.
/// kWords is even: the last word of `odd` stands one above the last of `even`.
template <unsigned kWords>
struct Accumulator {
  static_assert(kWords >= 2 && kWords % 2 == 0);
  std::uint32_t even[kWords];
  std::uint32_t odd[kWords];
  std::uint32_t top;
};

/// sum += b times the words `first`, `first` + 2, .. of a, where word j stands at sum[j - offset]; leaves the
/// carry out of the last product in the flag. There has to be one: first < kWords.
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

/// The same for all odd words, the flag's carry added at word 1.
template <unsigned kWords, class Words>
MM_DEVICE void add_odd_products_and_carry(std::uint32_t* odd, const Words& a, std::uint32_t b) {
  MM_UNROLL
  for (unsigned j = 1; j < kWords; j += 2) {
    cuda::madc_wide_cc(odd[j - 1], odd[j], a[j], b, odd[j - 1], odd[j]);
  }
}

/// s += a b.
/// In: top < 2^32 - 4. The exact sum fits, since its words above kWords are counted in `top`.
template <unsigned kWords, class Words>
MM_DEVICE void add_row(Accumulator<kWords>& s, const Words& a, std::uint32_t b) {
  add_products<kWords>(s.odd, 1, 1, a, b);
  s.top = cuda::addc(s.top, 0);
  add_products<kWords>(s.even, 0, 0, a, b);
  s.odd[kWords - 1] = cuda::addc_cc(s.odd[kWords - 1], 0);
  s.top = cuda::addc(s.top, 0);
}

/// s = (s - s mod B) / B + incoming B^(kWords-1), then the same rows as add_row for `a` and `b`, in one pass:
/// the even accumulators become odd ones and the other way round. s.even[0] is not looked at.
///
/// `incoming`: the lowest word of the lane above, which stands at word kWords of this lane.
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

/// r + overflow B^kWords = (s - s mod B) / B + incoming B^(kWords-1).
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
