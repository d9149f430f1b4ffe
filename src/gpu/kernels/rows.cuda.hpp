// SPDX-License-Identifier: Apache-2.0
// The kernel mm_copy_rows: copies rows of limbs from one array in device memory to another, gathers or
// scatters them by a list of items, and pads them with zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/portable.hpp"

namespace manymod::gpu {

inline constexpr unsigned kRowsBlock = 256;  ///< threads of a block

/// Rows of a batch: those of item i are the `terms` rows from row i terms on.
struct RowsPlace {
  std::uint64_t* limbs = nullptr;        ///< of RowsJob::from: never written
  std::uint64_t stride = 0;              ///< limbs from one row to the next
  const std::uint64_t* items = nullptr;  ///< the items' indices, in device memory; null: 0, 1, ..

  [[nodiscard]] MM_DEVICE std::uint64_t* row(std::uint64_t number, std::uint32_t terms) const {
    const std::uint64_t place = items == nullptr ? number : items[number / terms] * terms + number % terms;
    return limbs + place * stride;
  }
};

/// Each row of `to` is the from_width limbs of its row of `from`, then zeros up to to_width.
struct RowsJob {
  RowsPlace from;  ///< null limbs: all limbs are 0
  RowsPlace to;
  std::uint32_t from_width = 0;
  std::uint32_t to_width = 0;
  std::uint32_t terms = 1;
  std::uint32_t count = 0;                 ///< limbs that this launch writes: its rows * to_width
  std::uint64_t first_row = 0;             ///< the first row that this launch copies
  const std::uint8_t* left_out = nullptr;  ///< per row: nonzero if it is not copied; null: all are copied

  /// See Kernel::launch.
  static std::span<const std::size_t> device_pointers();
};

/// Copies one limb. On input: element < job.count.
MM_DEVICE void copy_limb(const RowsJob& job, std::uint32_t element) {
  const std::uint64_t row = job.first_row + element / job.to_width;
  const std::uint32_t limb = element % job.to_width;
  if (job.left_out != nullptr && job.left_out[row] != 0) return;
  const bool inside = limb < job.from_width && job.from.limbs != nullptr;
  job.to.row(row, job.terms)[limb] = inside ? job.from.row(row, job.terms)[limb] : 0;
}

}  // namespace manymod::gpu
