// SPDX-License-Identifier: Apache-2.0
// One thread of the kernels of garner_job.hpp. Timing: constant; depends on sizes only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/kernels/garner_job.hpp"

namespace manymod::gpu {

/// On input: item < job.count. `memory`: item_bytes(job.words) bytes that belong to this thread.
MM_DEVICE void compute_garner_difference(const GarnerDifferenceJob& job, std::uint32_t item,
                                         LaneMemory memory) {
  const WordSource a = job.a.at(item), b = job.b.at(item), p = job.p.at(item);
  std::uint32_t borrow = 0;
  MM_ROLLED
  for (std::uint32_t j = 0; j < job.words; ++j) {
    const std::uint64_t difference = std::uint64_t{a[j]} - b[j] - borrow;
    memory[j] = static_cast<std::uint32_t>(difference);
    borrow = static_cast<std::uint32_t>(difference >> 63);
  }
  const std::uint32_t mask = 0 - borrow;
  std::uint32_t* const result = job.result + static_cast<std::size_t>(item) * job.words;
  std::uint64_t sum = 0;
  MM_ROLLED
  for (std::uint32_t j = 0; j < job.words; ++j) {
    sum += std::uint64_t{memory[j]} + (p[j] & mask);
    result[j] = static_cast<std::uint32_t>(sum);
    sum >>= 32;
  }
}

/// On input: as above. The product q h is computed column by column. `low` and `high` are sums of at most
/// `words` halves of products, of one word and of the carry from the previous column: with words < 2^16 they
/// stay below 2^49.
MM_DEVICE void compute_garner_sum(const GarnerSumJob& job, std::uint32_t item, LaneMemory memory) {
  const WordSource b = job.b.at(item), q = job.q.at(item), h = job.h.at(item);
  const std::uint32_t words = job.words;
  MM_ROLLED
  for (std::uint32_t j = 0; j < words; ++j) {
    memory[j] = q[j];
    memory[words + j] = h[j];
  }
  std::uint32_t* const result = job.result + static_cast<std::size_t>(item) * job.result_words;
  std::uint64_t low = 0, high = 0;
  MM_ROLLED
  for (std::uint32_t column = 0; column < job.result_words; ++column) {
    const std::uint32_t first = column < words ? 0 : column - words + 1;
    const std::uint32_t last = column < words ? column : words - 1;
    low += b[column];
    for (std::uint32_t j = first; j <= last; ++j) {
      const std::uint64_t product = std::uint64_t{memory[j]} * memory[words + column - j];
      low += static_cast<std::uint32_t>(product);
      high += product >> 32;
    }
    result[column] = static_cast<std::uint32_t>(low);
    low = (low >> 32) + high;
    high = 0;
  }
}

}  // namespace manymod::gpu
