// SPDX-License-Identifier: Apache-2.0
// Arithmetic in one channel: an odd modulus m < 2^31 - 2^17, residues as 32-bit words. docs/rns.md, "Channels
// of 32-bit words", derives the bounds.
#pragma once

#include <cstdint>

#include "arch/cuda/portable.hpp"
#include "arch/cuda/wide.hpp"
#include "modmul/rns/layout.hpp"

namespace manymod::rns {

/// T / 2^32 mod m, not corrected: at most T / 2^32 + m. T + 2^32 m <= 2^64.
MM_DEVICE std::uint32_t reduce(cuda::Wide t, const Channel& channel) {
  return cuda::multiply_add(t.lo * channel.negative_inverse, channel.modulus, t).hi;
}

/// The residue below m of v < 2 m: if v < m, v - m wraps round to above 2 m.
MM_DEVICE std::uint32_t corrected(std::uint32_t v, const Channel& channel) {
  const std::uint32_t less = v - channel.modulus;
  return v < less ? v : less;
}

/// a b / 2^32 mod m, corrected, for a b < 2^32 m.
MM_DEVICE std::uint32_t product(std::uint32_t a, std::uint32_t b, const Channel& channel) {
  return corrected(reduce(cuda::multiply(a, b), channel), channel);
}

/// 2^64 / a mod m for a < m: Fermat's a^(m - 2) by windows of 2 bits, each product with a factor 2^-32. For a
/// = 0 it is 0. The digits are those of m: public.
MM_DEVICE std::uint32_t inverse(std::uint32_t a, const Channel& channel) {
  constexpr unsigned kTop = 30;
  const std::uint32_t exponent = channel.modulus - 2;
  const std::uint32_t one = 0 - 2 * channel.modulus;  // 2^32 mod m, as 2^31 - 2^30 < m < 2^31
  const std::uint32_t square = product(a, a, channel), cube = product(square, a, channel);
  const auto factor = [&](unsigned bit) {
    const std::uint32_t digit = exponent >> bit & 3;
    const std::uint32_t low = (digit & 1) != 0 ? a : one, high = (digit & 1) != 0 ? cube : square;
    return (digit & 2) != 0 ? high : low;
  };
  std::uint32_t r = factor(kTop);
  MM_ROLLED
  for (unsigned bit = kTop; bit > 0; bit -= 2) {
    r = product(r, r, channel);
    r = product(r, r, channel);
    r = product(r, factor(bit - 2), channel);
  }
  return r;
}

}  // namespace manymod::rns
