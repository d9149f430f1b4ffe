// SPDX-License-Identifier: Apache-2.0
// Stage 1 of Pollard's p - 1 method by one thread or a group of threads per number: the device code of
// pminus1.cu.
#pragma once

#include <cstdint>

#include "manymod/device/modular.cuh"

namespace pminus1 {

namespace device = manymod::device;

inline constexpr unsigned kWindow = 6;

/// gcd(2^e - 1, n) for the modulus n. It is divisible by every prime factor p of n for which p - 1 divides e.
///
/// In: `e` is the same for all threads of a warp; `table`: Modulus::table_words(kWindow - 1) words of this
/// thread.
template <class Modulus>
MM_DEVICE typename Modulus::Integer stage1(const Modulus& m, const device::Words& e,
                                           device::LaneMemory table) {
  const auto two = m.add(m.one(), m.one());
  const auto power = m.template pow_uniform<kWindow>(two, e, 32 * e.count(), table);
  return m.gcd_with_modulus(m.from_montgomery(m.sub(power, m.one())));
}

}  // namespace pminus1
