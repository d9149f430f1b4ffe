// SPDX-License-Identifier: Apache-2.0
// One thread of the kernel mm_residue. Timing: constant; depends on lengths only.
#pragma once

#include <cstdint>

#include "gpu/kernels/residue.cuda.hpp"
#include "gpu/kernels/residue_job.hpp"
#include "gpu/program/digit_value.cuda.hpp"

namespace manymod::gpu {

/// Appends the `left` low bits of a number to the residue, where word(first, bits) returns its `bits` bits
/// from bit `first` up.
template <class Word>
MM_DEVICE void append_bits(Residue& residue, std::uint32_t left, Word word) {
  while (left > 0) {
    const unsigned bits = left < Residue::kMostBits ? left : Residue::kMostBits;
    left -= bits;
    residue.append(word(left, bits), bits);
  }
}

/// On input: item < job.count. `memory`: item_bytes(job.words) bytes that belong to this thread.
MM_DEVICE void compute_residue(const ResidueJob& job, std::uint32_t item, LaneMemory memory) {
  const WordSource n = job.modulus.at(item / job.per_modulus), value = job.value.at(item % job.values);
  Residue residue(n, job.words, memory, {&memory[job.words], memory.stride});
  if (value.words == nullptr) {
    residue.assign_power();
  } else {
    const std::uint32_t top = value.count < job.words - 2 ? value.count : job.words - 2;
    residue.assign({value.words + (value.count - top), top});
    append_bits(residue, 32 * (value.count - top),
                [&](std::uint32_t first, unsigned bits) { return window_value(first, bits, value); });
  }
  append_bits(residue, job.zero_bits, [](std::uint32_t, unsigned) { return 0u; });
  const bool negate = job.negative != nullptr && job.negative[item % job.values] != 0;
  residue.store({job.result + static_cast<std::size_t>(item) * job.result_width, job.result_width}, n,
                negate);
}

}  // namespace manymod::gpu
