// SPDX-License-Identifier: Apache-2.0
// Numbers whose 32-bit words are spread over a group's lanes, lane l holding words l kWords .. (l + 1) kWords
// - 1. Carries and borrows pass from lane to lane in a fixed number of steps: all functions are
// constant-time. All lanes of the group call together.
#pragma once

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/thread_group.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"

namespace manymod::lane_words {

/// r += carry in this lane's words, 0 <= carry < 2^32. @return the carry out of the lane, 0 or 1.
template <unsigned kWords>
MM_DEVICE std::uint32_t add_word(std::uint32_t* r, std::uint32_t carry) {
  r[0] = cuda::add_cc(r[0], carry);
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::addc_cc(r[j], 0);
  return cuda::addc(0, 0);
}

/// r -= borrow in this lane's words, 0 <= borrow < 2^32. @return the borrow out of the lane, 0 or 1.
template <unsigned kWords>
MM_DEVICE std::uint32_t subtract_word(std::uint32_t* r, std::uint32_t borrow) {
  r[0] = cuda::sub_cc(r[0], borrow);
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::subc_cc(r[j], 0);
  return cuda::subc(0, 0) & 1;
}

/// Propagates carries: r = the sum over all lanes l of (r_l + overflow_l 2^(32 kWords)) 2^(32 kWords l),
/// modulo 2^(32 kWords kSize), where r_l and overflow_l are those of lane l. On input: 0 <= overflow < 2^32.
/// @return in every lane: the part of the sum above the last lane's words.
template <unsigned kWords, class Group>
MM_DEVICE std::uint32_t resolve_carries(const Group& group, std::uint32_t* r, std::uint32_t overflow) {
  if constexpr (Group::kSize == 1) {
    return overflow;
  } else {
    const std::uint32_t below = group.from_below(overflow);
    const std::uint32_t carry = add_word<kWords>(r, group.lane() == 0 ? 0 : below);
    std::uint32_t ones = r[0];
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) ones &= r[j];
    const std::uint64_t carries =
        cuda::lane_carries(group.ballot(carry != 0), group.ballot(ones == 0xffffffffu));
    add_word<kWords>(r, static_cast<std::uint32_t>(carries >> group.lane()) & 1);
    return group.shuffle(overflow, Group::kSize - 1) + static_cast<std::uint32_t>(carries >> Group::kSize);
  }
}

/// r = a - (b & mask), where mask is 0 or all ones. r may be a or b. @return in every lane: the borrow out of
/// the last lane, 0 or 1.
template <unsigned kWords, class Group>
MM_DEVICE std::uint32_t subtract_masked(const Group& group, std::uint32_t* r, const std::uint32_t* a,
                                        const std::uint32_t* b, std::uint32_t mask) {
  r[0] = cuda::sub_cc(a[0], b[0] & mask);
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::subc_cc(a[j], b[j] & mask);
  const std::uint32_t borrow = cuda::subc(0, 0) & 1;
  if constexpr (Group::kSize == 1) {
    return borrow;
  } else {
    std::uint32_t any = r[0];
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) any |= r[j];
    const std::uint64_t borrows = cuda::lane_carries(group.ballot(borrow != 0), group.ballot(any == 0));
    subtract_word<kWords>(r, static_cast<std::uint32_t>(borrows >> group.lane()) & 1);
    return static_cast<std::uint32_t>(borrows >> Group::kSize);
  }
}

/// r = a + (b & mask), where mask is 0 or all ones. r may be a or b. @return in every lane: the carry out of
/// the last lane, 0 or 1.
template <unsigned kWords, class Group>
MM_DEVICE std::uint32_t add_masked(const Group& group, std::uint32_t* r, const std::uint32_t* a,
                                   const std::uint32_t* b, std::uint32_t mask) {
  r[0] = cuda::add_cc(a[0], b[0] & mask);
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::addc_cc(a[j], b[j] & mask);
  const std::uint32_t carry = cuda::addc(0, 0);
  return resolve_carries<kWords>(group, r, carry);
}

/// With R = 2^(32 kWords kSize): r = a + overflow R, less n if that is at least n. On input: overflow is 0 or
/// 1. So r = a + overflow R mod n if a + overflow R < 2 n; and r < R if a + overflow R < R + n. r may be a.
template <unsigned kWords, class Group>
MM_DEVICE void reduce_once(const Group& group, std::uint32_t* r, const std::uint32_t* a,
                           const std::uint32_t* n, std::uint32_t overflow = 0) {
  std::uint32_t difference[kWords];
  // If there is an overflow and a + overflow R < R + n, then a < n and the subtraction borrows.
  const std::uint32_t below =
      cuda::opaque_on_host(subtract_masked<kWords>(group, difference, a, n, 0xffffffffu) - overflow);
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) r[j] = (a[j] & (0 - below)) | (difference[j] & (below - 1));
}

}  // namespace manymod::lane_words
