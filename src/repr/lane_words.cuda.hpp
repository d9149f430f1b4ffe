// SPDX-License-Identifier: Apache-2.0
// Numbers whose 32-bit words are spread over a group's lanes, lane l holding words l kWords to (l + 1) kWords
// - 1: carries and borrows from lane to lane, in a fixed number of steps.
#pragma once

#include <cstdint>

#include "arch/cuda/thread_group.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"

namespace manymod::lane_words {

/// r += carry; @return the carry out of the lane, 0 or 1. In: 0 <= carry < 2^32
template <unsigned kWords>
MM_DEVICE std::uint32_t add_word(std::uint32_t* r, std::uint32_t carry) {
  r[0] = cuda::add_cc(r[0], carry);
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::addc_cc(r[j], 0);
  return cuda::addc(0, 0);
}

/// r -= borrow; @return the borrow out of the lane, 0 or 1.
template <unsigned kWords>
MM_DEVICE std::uint32_t subtract_word(std::uint32_t* r, std::uint32_t borrow) {
  r[0] = cuda::sub_cc(r[0], borrow);
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::subc_cc(r[j], 0);
  return cuda::subc(0, 0) & 1;
}

/// r = the number sum_l (r + overflow 2^(32 kWords)) 2^(32 kWords l), modulo 2^(32 kWords kSize), over all
/// lanes l.
/// @return in every lane: what that number has above its last lane's words
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

/// r = a - (b & mask); @return in every lane: the borrow out of the last one, 0 or 1
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

/// r = a + (b & mask); @return in every lane: the carry out of the last one, 0 or 1
template <unsigned kWords, class Group>
MM_DEVICE std::uint32_t add_masked(const Group& group, std::uint32_t* r, const std::uint32_t* a,
                                   const std::uint32_t* b, std::uint32_t mask) {
  r[0] = cuda::add_cc(a[0], b[0] & mask);
  MM_UNROLL
  for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::addc_cc(a[j], b[j] & mask);
  const std::uint32_t carry = cuda::addc(0, 0);
  return resolve_carries<kWords>(group, r, carry);
}

/// r = a + overflow R less n where that is not below n, R = 2^(32 kWords kSize). In: overflow 0 or 1. It is
/// a + overflow R mod n below 2 n, and below R below R + n.
template <unsigned kWords, class Group>
MM_DEVICE void reduce_once(const Group& group, std::uint32_t* r, const std::uint32_t* a,
                           const std::uint32_t* n, std::uint32_t overflow = 0) {
  std::uint32_t difference[kWords];
  // Where there is an overflow, a is below n.
  const std::uint32_t below = subtract_masked<kWords>(group, difference, a, n, 0xffffffffu) - overflow;
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) r[j] = (a[j] & (0 - below)) | (difference[j] & (below - 1));
}

}  // namespace manymod::lane_words
