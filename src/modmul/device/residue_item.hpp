// SPDX-License-Identifier: Apache-2.0
// What one thread of the kernel mm_residue does.
#pragma once

#include <cstdint>

#include "modmul/device/residue.hpp"
#include "modmul/device/residue_job.hpp"

namespace manymod::device {

/// `item` < job.count. `memory`: item_bytes(job.words) bytes of this thread's own
MM_DEVICE void compute_residue(const ResidueJob& job, std::uint32_t item, LaneMemory memory) {
  const WordSource n = job.modulus.at(item / job.per_modulus), value = job.value.at(item % job.values);
  Residue residue(n, job.words, memory, {&memory[job.words], memory.stride});
  if (value.words == nullptr) {
    residue.assign_power();
  } else {
    const std::uint32_t top = value.count < job.words - 2 ? value.count : job.words - 2;
    residue.assign({value.words + (value.count - top), top});
    for (std::uint32_t left = value.count - top; left > 0; --left) residue.append(value[left - 1], 32);
  }
  for (std::uint32_t left = job.zero_bits; left > 0;) {
    const std::uint32_t bits = left < 32 ? left : 32;
    residue.append(0, bits);
    left -= bits;
  }
  const bool negate = job.negative != nullptr && job.negative[item % job.values] != 0;
  residue.store({job.result + static_cast<std::size_t>(item) * job.result_width, job.result_width}, n,
                negate);
}

}  // namespace manymod::device
