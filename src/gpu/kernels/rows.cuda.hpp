// SPDX-License-Identifier: Apache-2.0
// What the kernel mm_copy_rows does: rows of limbs from one array in device memory to another, picked from
// or put at the places of a list, and padded with zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"

namespace manymod::gpu {

inline constexpr unsigned kRowsBlock = 256;  ///< threads of a block

/// Rows of a batch: item i has the `terms` rows from number i terms on.
struct RowsPlace {
  std::uint64_t* limbs = nullptr;        ///< where they are read they may be constant
  std::uint64_t stride = 0;              ///< from one row to the next
  const std::uint64_t* items = nullptr;  ///< their numbers, in device memory; null: 0, 1, ..

  [[nodiscard]] MM_DEVICE std::uint64_t* row(std::uint64_t number, std::uint32_t terms) const {
    const std::uint64_t place = items == nullptr ? number : items[number / terms] * terms + number % terms;
    return limbs + place * stride;
  }
};

/// Limb j of row r: from.width limbs, then zeros.
struct RowsJob {
  RowsPlace from;  ///< without limbs: zeros
  RowsPlace to;
  std::uint32_t from_width = 0;
  std::uint32_t to_width = 0;
  std::uint32_t terms = 1;
  std::uint32_t count = 0;                 ///< of limbs: rows * to_width
  std::uint64_t first_row = 0;             ///< of the rows that this launch copies
  const std::uint8_t* left_out = nullptr;  ///< of each row: not 0 if it is not copied; or null: all are
};

/// Copy one limb; `element` < job.count.
MM_DEVICE void copy_limb(const RowsJob& job, std::uint32_t element) {
  const std::uint64_t row = job.first_row + element / job.to_width;
  const std::uint32_t limb = element % job.to_width;
  if (job.left_out != nullptr && job.left_out[row] != 0) return;
  const bool inside = limb < job.from_width && job.from.limbs != nullptr;
  job.to.row(row, job.terms)[limb] = inside ? job.from.row(row, job.terms)[limb] : 0;
}

}  // namespace manymod::gpu
