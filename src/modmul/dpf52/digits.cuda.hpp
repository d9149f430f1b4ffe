// SPDX-License-Identifier: Apache-2.0
// Numbers as 52-bit digits distributed over the lanes of a group: lane l holds digits l kDigits to (l + 1)
// kDigits - 1. Conversion from and to 32-bit words; carry propagation. A digit d_j is called exact if 0 <=
// d_j < 2^52; products may leave digits of 2^52 (columns.cuda.hpp).
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/thread_group.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "modmul/dpf52/columns.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::dpf52 {

/// Adds `carry` at digit 0 and propagates carries through a lane's digits. On input: d_j + carry < 2^64. On
/// output: exact digits. @return the carry out of the lane
template <unsigned kDigits>
MM_DEVICE std::uint64_t ripple(std::uint64_t* d, std::uint64_t carry) {
  MM_UNROLL
  for (unsigned j = 0; j < kDigits; ++j) {
    const std::uint64_t sum = d[j] + carry;
    d[j] = sum & kDigitMask;
    carry = sum >> kDigitBits;
  }
  return carry;
}

/// Makes all digits of a number exact, without changing the number. On input: d_j <= 2^52; the number is
/// below 2^(52 kDigits kSize).
///
/// The digits of a lane sum to less than 2 2^(52 kDigits). Its carry out is therefore 0 or 1, and if it is 1,
/// the remaining digits are not all ones: no lane both generates and propagates a carry.
template <unsigned kDigits, class Group>
MM_DEVICE void make_exact(const Group& group, std::uint64_t* d) {
  const std::uint64_t out = ripple<kDigits>(d, 0);
  if constexpr (Group::kSize > 1) {
    std::uint64_t ones = d[0];
    MM_UNROLL
    for (unsigned j = 1; j < kDigits; ++j) ones &= d[j];
    const std::uint64_t carries =
        cuda::lane_carries(group.ballot(out != 0), group.ballot(ones == kDigitMask));
    ripple<kDigits>(d, carries >> group.lane() & 1);
  }
}

/// Subtracts `borrow` at digit 0 and propagates borrows through a lane's digits. On input: exact digits;
/// borrow <= 1. On output: exact digits. @return the borrow out of the lane, 0 or 1
template <unsigned kDigits>
MM_DEVICE std::uint64_t ripple_borrow(std::uint64_t* d, std::uint64_t borrow) {
  MM_UNROLL
  for (unsigned j = 0; j < kDigits; ++j) {
    const std::uint64_t difference = d[j] - borrow;
    d[j] = difference & kDigitMask;
    borrow = difference >> 63;
  }
  return borrow;
}

/// d = d mod n. On input: exact digits, d < 2 n; n's digits exact. On output: exact digits.
template <unsigned kDigits, class Group>
MM_DEVICE void reduce_once(const Group& group, std::uint64_t* d, const double* n) {
  std::uint64_t difference[kDigits];
  std::uint64_t borrow = 0;
  std::uint64_t any = 0;
  MM_UNROLL
  for (unsigned j = 0; j < kDigits; ++j) {
    const std::uint64_t whole = d[j] - cuda::to_integer(n[j]) - borrow;
    difference[j] = whole & kDigitMask;
    any |= difference[j];
    borrow = whole >> 63;
  }
  if constexpr (Group::kSize > 1) {
    // A lane whose difference is 0 propagates a borrow. It does not generate one as well: it would be
    // -2^(52 kDigits) as a whole, less than any difference of two numbers of kDigits exact digits.
    const std::uint64_t borrows = cuda::lane_carries(group.ballot(borrow != 0), group.ballot(any == 0));
    ripple_borrow<kDigits>(difference, borrows >> group.lane() & 1);
    borrow = borrows >> Group::kSize;
  }
  MM_UNROLL
  for (unsigned j = 0; j < kDigits; ++j) d[j] = (d[j] & (0 - borrow)) | (difference[j] & (borrow - 1));
}

/// Word `at` of a number of kWords words; 0 for at >= kWords.
template <unsigned kWords, class Words>
MM_DEVICE std::uint32_t padded_word(const Words& a, unsigned at) {
  return at < kWords ? a[at] : 0;
}

/// d = this lane's digits, exact, of a number of kWords words.
template <unsigned kDigits, unsigned kWords, class Words>
MM_DEVICE void load_digits(double* d, const Words& a, unsigned lane) {
  constexpr unsigned kWindow = (kDigits * kDigitBits + 31) / 32;
  const unsigned bit = lane * kDigits * kDigitBits;
  const unsigned first = bit / 32;
  std::uint32_t window[kWindow + 2] = {};
  MM_UNROLL
  for (unsigned j = 0; j < kWindow; ++j) {
    window[j] =
        cuda::shift_right(padded_word<kWords>(a, first + j), padded_word<kWords>(a, first + j + 1), bit % 32);
  }
  MM_UNROLL
  for (unsigned j = 0; j < kDigits; ++j) {
    const std::uint32_t* const w = window + j * kDigitBits / 32;
    const std::uint32_t low = cuda::shift_right(w[0], w[1], j * kDigitBits % 32);
    const std::uint32_t high = cuda::shift_right(w[1], w[2], j * kDigitBits % 32);
    d[j] = cuda::fraction_to_double(std::uint64_t{high} << 32 | low);
  }
}

/// Word j of the number with exact digits d[0 .. kCount - 1].
template <unsigned kCount>
MM_DEVICE std::uint32_t word_of_digits(const std::uint64_t* d, unsigned j) {
  const unsigned at = j * 32 / kDigitBits;
  const unsigned shift = j * 32 % kDigitBits;
  const std::uint64_t low = at < kCount ? d[at] : 0;
  const std::uint64_t high = at + 1 < kCount ? d[at + 1] : 0;
  return static_cast<std::uint32_t>(low >> shift | high << (kDigitBits - shift));
}

/// Stores the words of r whose lowest bit is in this lane's digits. On input: exact digits.
template <unsigned kDigits, class Group, class Sink>
MM_DEVICE void store_words(const Group& group, const Sink& r, const std::uint64_t* d) {
  constexpr unsigned kBits = kDigits * kDigitBits;
  constexpr unsigned kWindow = (kBits + 31) / 32;
  const unsigned bit = group.lane() * kBits;
  const unsigned first = (bit + 31) / 32;
  const unsigned skipped = first * 32 - bit;
  // The lowest digit of the lane above completes the last word; above the last lane there is nothing.
  const std::uint64_t above = group.from_above(d[0]);
  std::uint64_t digits[kDigits + 1];
  MM_UNROLL
  for (unsigned j = 0; j < kDigits; ++j) digits[j] = d[j];
  digits[kDigits] = group.lane() + 1 < Group::kSize ? above : 0;
  MM_UNROLL
  for (unsigned j = 0; j < kWindow; ++j) {
    const std::uint32_t low = word_of_digits<kDigits + 1>(digits, j);
    const std::uint32_t high = word_of_digits<kDigits + 1>(digits, j + 1);
    if (skipped + 32 * j < kBits) r.set(first + j, cuda::shift_right(low, high, skipped));
  }
}

}  // namespace manymod::dpf52
