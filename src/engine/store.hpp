// SPDX-License-Identifier: Apache-2.0
// Storing results: the sign rule of Python, zero extension, and zeros for items without a result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "engine/engine.hpp"
#include "repr/limbs.hpp"

namespace manymod {

/// Store the result of `item`:  r if n > 0 or r == 0, else r - |n| (Python: the sign of the modulus).
///
/// On input:  `residue` = r, 0 <= r < |n|; `modulus` = |n|; both of the same limb count <= job.result.width.
/// On output: job.result at `item`, zero-extended to its width, and its sign where the call has a sign array.
/// Aliasing: the result may be the same array as `residue` or `modulus`; limb j is read before it is written.
/// Timing: branches and addresses depend on the sizes and on the sign of n only, never on r.
inline void store_result(const Job& job, std::size_t item, std::span<const Limb> residue,
                         std::span<const Limb> modulus) {
  const std::span<Limb> out = job.result.magnitude(item);
  const std::size_t size = modulus.size();
  std::uint8_t negative = 0;
  if (job.modulus.is_negative(item)) {
    negative = static_cast<std::uint8_t>(limbs::is_zero(residue) ^ 1);
    limbs::negate_mod(out.first(size), residue, modulus);
  } else {
    for (std::size_t j = 0; j < size; ++j) out[j] = residue[j];
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(size), out.end(), Limb{0});
  if (job.result.negative != nullptr) job.result.negative[item] = negative;
}

/// Store 0 as the result of `item`, which has a status other than ok or a modulus of 1 or -1.
inline void store_zero(const BatchResult& result, std::size_t item) {
  const std::span<Limb> out = result.magnitude(item);
  std::fill(out.begin(), out.end(), Limb{0});
  if (result.negative != nullptr) result.negative[item] = 0;
}

}  // namespace manymod
