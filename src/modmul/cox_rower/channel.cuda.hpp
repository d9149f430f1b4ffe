// SPDX-License-Identifier: Apache-2.0
// Arithmetic in one channel on the device, modulo an odd m < 2^29. bases.hpp derives the ranges. All
// functions are constant-time in residues.
#pragma once

#include <cstdint>

#include "arch/cuda/wide.cuda.hpp"
#include "core/portable.hpp"

namespace manymod::cox_rower {

/// A channel in registers.
struct Channel {
  std::uint32_t modulus = 1;
  std::uint32_t negative_inverse = 0;  ///< -1 / m mod 2^32
};

/// T / 2^32 mod m, at most T / 2^32 + m. On input: T + 2^32 m <= 2^64.
MM_DEVICE std::uint32_t reduced(cuda::Wide t, const Channel& channel) {
  return cuda::multiply_add(t.lo * channel.negative_inverse, channel.modulus, t).hi;
}

/// a b / 2^32 mod m, at most a b / 2^32 + m. On input: a b + 2^32 m <= 2^64.
MM_DEVICE std::uint32_t product(std::uint32_t a, std::uint32_t b, const Channel& channel) {
  return reduced(cuda::multiply(a, b), channel);
}

/// v - m, or v if v < m: then v - m wraps to at least 2^32 - m > v.
MM_DEVICE std::uint32_t corrected(std::uint32_t v, const Channel& channel) {
  const std::uint32_t less = v - channel.modulus;
  return v < less ? v : less;
}

/// 2^32 mod m.
MM_DEVICE std::uint32_t radix_modulo(const Channel& channel) {
  return 0 - channel.modulus * (0xffffffffu / channel.modulus);
}

/// 2^64 / a mod m, or 0 for a = 0 mod m, by Fermat's little theorem: a and the result in Montgomery form.
/// Numbers stay below 2 m: the product of two such, reduced, is at most (4 m / 2^32 + 1) m < 2 m. The bits of
/// m - 2 are public; they are used as masks, since they differ among the channels of a warp.
MM_DEVICE std::uint32_t inverse(std::uint32_t a, const Channel& channel) {
  constexpr unsigned kTopBit = 28;
  const std::uint32_t exponent = channel.modulus - 2;
  std::uint32_t r = radix_modulo(channel);
  MM_ROLLED
  for (unsigned bit = kTopBit + 1; bit-- > 0;) {
    r = product(r, r, channel);
    const std::uint32_t times_a = product(r, a, channel);
    r = (exponent >> bit & 1) != 0 ? times_a : r;
  }
  return r;
}

}  // namespace manymod::cox_rower
