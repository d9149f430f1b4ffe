// SPDX-License-Identifier: Apache-2.0
// Sums of many multiples by buckets (Pippenger 1976), for public scalars: which points are added to which.
// The same for all curves; sums.cuda.hpp has the additions.
//
// The terms of a bucket are cut into pieces of a bounded number of terms, which one thread each adds up, and
// the sums of the pieces are added in the same way until one is left. So a sum whose scalars are all the
// same takes about as long as one of random scalars. References and pieces get their indices from atomic
// counters: the order depends on how threads are scheduled, the sum does not.
#pragma once

#include <cstdint>

#include "arch/cuda/atomic.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "ecc/cuda/jobs.cuda.hpp"

namespace manymod::ecc::cuda {

struct BucketDigit {
  std::uint32_t magnitude;
  std::uint32_t negative;  ///< 0 or 1
};

/// Digit i (Booth 1951): from the bits b of k at w i - 1 to w i + w - 1, d = floor((b + 1) / 2) - 2^w (the
/// highest bit of b). On input: w = width <= 16.
MM_DEVICE BucketDigit bucket_digit(const std::uint32_t* k, unsigned words, unsigned width, unsigned i) {
  const std::uint32_t mask = (2u << width) - 1;
  const unsigned at = i * width + 31;  // 32 bits above that of the lowest bit: a word of 0 is below k
  const unsigned word = at / 32;
  const std::uint32_t low = word == 0 || word > words ? 0 : k[word - 1], high = word < words ? k[word] : 0;
  const std::uint32_t bits = manymod::cuda::shift_right(low, high, at % 32) & mask;
  const std::uint32_t negative = bits >> width;
  return {((bits ^ (mask & (0 - negative))) + 1) / 2, negative};
}

/// Counts the terms of buckets, or writes their references. On input: item < job.count.
MM_DEVICE void sort_digits(const DigitsJob& job, std::uint32_t item) {
  if (job.good[item] == 0) return;
  const std::uint32_t* const k = job.scalar.at(item);
  MM_ROLLED
  for (unsigned window = 0; window < job.windows; ++window) {
    const BucketDigit digit = bucket_digit(k, job.words, job.width, window);
    if (digit.magnitude == 0) continue;
    const std::uint32_t bucket = (window << (job.width - 1)) + digit.magnitude - 1;
    if (job.references == nullptr) {
      static_cast<void>(manymod::cuda::fetch_add(job.size[bucket], 1));
    } else {
      job.references[manymod::cuda::fetch_add(job.next[bucket], 1)] = 2 * item + digit.negative;
    }
  }
}

/// On input: group < job.count.
MM_DEVICE void cut_group(const PiecesJob& job, std::uint32_t group) {
  const std::uint32_t size = job.groups.size[group];
  if (job.places != nullptr) {
    const std::uint32_t place = manymod::cuda::fetch_add(*job.places, size);
    job.groups.first[group] = place;
    job.next[group] = place;
  }
  const std::uint32_t first = job.groups.first[group], pieces = (size + job.most - 1) / job.most;
  const std::uint32_t piece = manymod::cuda::fetch_add(*job.made, pieces);
  job.pieces.first[group] = piece;
  job.pieces.size[group] = pieces;
  std::uint32_t from = 0;
  MM_ROLLED
  for (std::uint32_t i = 0; i < pieces; ++i) {
    const auto to = static_cast<std::uint32_t>(std::uint64_t{size} * (i + 1) / pieces);
    job.elements.first[piece + i] = first + from;
    job.elements.size[piece + i] = to - from;
    from = to;
  }
}

/// On input: place < job.count.
MM_DEVICE void refer_bits(const BitsJob& job, std::uint32_t place) {
  const std::uint32_t group = place / job.slots, slot = place % job.slots;
  const std::uint32_t window = group / job.width, bit = group % job.width;
  // The numbers below 2^(width - 1) with that bit in ascending order, but 2^(width - 1) alone for the highest
  // bit.
  const bool is_highest = bit + 1 == job.width;
  const std::uint32_t above = slot >> bit << bit, digit = (above << 1) + (1u << bit) + (slot - above);
  const std::uint32_t bucket = (window << (job.width - 1)) + digit - 1;
  const bool has_one = (!is_highest || slot == 0) && job.buckets.size[bucket] != 0;
  job.references[place] = has_one ? job.buckets.first[bucket] : kNoPoint;
  if (slot != 0) return;
  job.groups.first[group] = place;
  job.groups.size[group] = is_highest ? 1 : job.slots;
}

}  // namespace manymod::ecc::cuda
