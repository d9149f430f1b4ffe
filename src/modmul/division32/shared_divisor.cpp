// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/shared_divisor.hpp"

#include <cstddef>
#include <cstdint>

#include "modmul/division.hpp"
#include "modmul/division32/division.cuda.hpp"
#include "repr/limbs.hpp"

namespace manymod::division32 {
namespace {

/// 2^(32 (words + kFolded)) mod n, in the words of n.
void write_fold(std::span<const Limb> n, unsigned words, std::uint32_t* fold) {
  constexpr std::size_t kMostLimbs = (kMaxWords + kFolded) / 2 + 1;
  Limb power[kMostLimbs] = {}, scratch[Divisor::scratch_limbs(kMostLimbs)], rest[kMaxWords / 2];
  const unsigned bits = 32 * (words + kFolded);
  power[bits / kLimbBits] = Limb{1} << bits % kLimbBits;
  Divisor divisor;
  divisor.assign(n);
  divisor.remainder_var({rest, n.size()}, {power, bits / kLimbBits + 1}, scratch);
  for (std::size_t j = 0; j < 2 * n.size(); ++j) {
    fold[j] = static_cast<std::uint32_t>(rest[j / 2] >> 32 * (j % 2));
  }
}

}  // namespace

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
  write_fold(n, words, d.fold);
  return d;
}

}  // namespace manymod::division32
