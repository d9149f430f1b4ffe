// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/shared_divisor.hpp"

#include <cstddef>
#include <cstdint>

#include "modmul/division32/division.cuda.hpp"
#include "repr/limbs.hpp"

namespace manymod::division32 {

SharedDivisor shared_divisor(std::span<const Limb> n, unsigned words) {
  SharedDivisor d{};
  d.shift = static_cast<std::uint32_t>(32 * words - limbs::bit_length_var(n));
  const unsigned moved = d.shift / 32, bits = d.shift % 32;
  const auto word = [&](std::size_t j) {
    return j < 2 * n.size() ? static_cast<std::uint32_t>(n[j / 2] >> 32 * (j % 2)) : 0u;
  };
  std::uint32_t top[2] = {};  // of N
  std::uint32_t borrow = 0;
  for (unsigned j = 0; j < words; ++j) {
    const std::uint32_t high = j < moved ? 0 : word(j - moved);
    const std::uint32_t low = j <= moved ? 0 : word(j - moved - 1);
    top[0] = top[1];
    top[1] = cuda::shift_left(low, high, bits);
    d.minus[j] = 0 - top[1] - borrow;
    borrow |= static_cast<std::uint32_t>(top[1] != 0);
  }
  d.reciprocal = reciprocal_of(top[1], top[0]);
  return d;
}

}  // namespace manymod::division32
