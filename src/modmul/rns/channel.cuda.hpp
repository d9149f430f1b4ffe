// SPDX-License-Identifier: Apache-2.0
// Arithmetic in one channel: an odd modulus m < 2^31, residues as 32-bit words. docs/rns.md, "Channels
// of 32-bit words", derives the bounds.
#pragma once

#include <cstdint>

#include "arch/cuda/byte_products.cuda.hpp"
#include "arch/cuda/wide.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/rns/layout.hpp"

namespace manymod::rns {

/// As a thread works with it.
struct Channel : StoredChannel {
  std::uint32_t negative =
      0;  ///< 2^32 - m: a factor for differences, which would take an instruction to negate
};
MM_DEVICE Channel channel_of(const StoredChannel& stored) { return {stored, 0 - stored.modulus}; }

/// T / 2^32 mod m, not corrected: at most T / 2^32 + m. T + 2^32 m <= 2^64.
MM_DEVICE std::uint32_t reduce(cuda::Wide t, const Channel& channel) {
  return cuda::multiply_add(t.lo * channel.negative_inverse, channel.modulus, t).hi;
}

/// The residue below m of v < 2 m: if v < m, v - m wraps round to above 2 m.
MM_DEVICE std::uint32_t corrected(std::uint32_t v, const Channel& channel) {
  const std::uint32_t less = v - channel.modulus;
  return v < less ? v : less;
}

/// x c mod m by Shoup's product, with floor(2^32 c / m): below (1 + x / 2^32) m.
MM_DEVICE std::uint32_t product_by_quotient(std::uint32_t x, std::uint32_t c, std::uint32_t quotient,
                                            const Channel& channel) {
  return x * c + cuda::multiply(x, quotient).hi * channel.negative;
}
MM_DEVICE std::uint32_t coordinate(std::uint32_t x, const Channel& channel) {
  return product_by_quotient(x, channel.factor, channel.companion, channel);
}
/// In B with roots, of s < 2 m: s or 2 m - s.
MM_DEVICE std::uint32_t signed_coordinate(std::uint32_t s, const Channel& channel) {
  return s * channel.factor + channel.companion;
}

/// A target's byte sums S_0 .. S_3 of one instance.
struct ChannelSums {
  std::uint32_t of_byte[4];
};
template <unsigned kFours>
MM_DEVICE ChannelSums sums_of(const cuda::ByteSums<kFours>& sums, unsigned four, unsigned half) {
  return {{sums.at(four, half, 0), sums.at(four, half, 1), sums.at(four, half, 2), sums.at(four, half, 3)}};
}

/// T mod m, below 2 m, for T = S_0 + 2^8 S_1 + 2^16 S_2 + 2^24 S_3, S_b < 2^31: T - q m with q = floor(T /
/// 2^31), or a little less, which is exact modulo 2^32. kNarrow: Q = S_2 + 2^8 S_3 + S_1 / 2^8 < 2^32.
///
/// Where products of matrices run, multiplications with high words cost much more than shifts, additions and
/// permutations.
template <bool kNarrow>
MM_DEVICE std::uint32_t remainder(const ChannelSums& sums, const Channel& channel) {
  const auto [s0, s1, s2, s3] = sums.of_byte;
  const std::uint32_t high = s2 + (s3 << 8);
  if constexpr (kNarrow) {
    // 2^16 Q + 2^8 (S_1 mod 2^8): the bytes of Q behind one of S_1 behind one of copies of its top bit, 0.
    const std::uint32_t q = high + (s1 >> 8);
    return cuda::permute_bytes<0x540b>(s1, q) + s0 + (q >> 15) * channel.negative;
  } else {
    const std::uint32_t quotient = (s3 + ((s2 + (s1 >> 8)) >> 8)) >> 7;
    return s0 + (s1 << 8) + (high << 16) + quotient * channel.negative;
  }
}

/// Part of the rank of residues in A, in units of 2^-8 but for what `low` has below them: their bytes times
/// the bytes of their weights (docs/rns.md, "Bytes as coordinates").
struct RankSum {
  std::uint32_t low = 0, high = 0;

  MM_DEVICE void add(std::uint32_t residue, const Channel& channel) {
    low = cuda::add_byte_products(low, residue, channel.factor);
    high = cuda::add_byte_products(high, residue, channel.companion);
  }
  MM_DEVICE std::uint32_t value() const { return high + (low >> 8); }
};

/// a b / 2^32 mod m, corrected, for a b < 2^32 m.
MM_DEVICE std::uint32_t product(std::uint32_t a, std::uint32_t b, const Channel& channel) {
  return corrected(reduce(cuda::multiply(a, b), channel), channel);
}

/// A constant c below m, and floor(2^32 c / m).
struct ConstantByQuotient {
  std::uint32_t constant, quotient;
};
/// c from f = 2^32 c mod m: 2^32 c - f divides by m, and the quotient is -f / m modulo 2^32.
MM_DEVICE ConstantByQuotient by_quotient(std::uint32_t form, const Channel& channel) {
  return {corrected(reduce({form, 0}, channel), channel), form * channel.negative_inverse};
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

/// a[i] = 2^64 / a[i] mod m, or 0 where that is 0, by one inversion (Montgomery, Mathematics of Computation
/// 48, 1987): 2^64 / (a b / 2^32) times b / 2^32 is 2^64 / a.
MM_DEVICE void invert_both(std::uint32_t (&a)[2], const Channel& channel) {
  const std::uint32_t zero[2] = {static_cast<std::uint32_t>(a[0] == 0),
                                 static_cast<std::uint32_t>(a[1] == 0)};
  const std::uint32_t first = a[0] | zero[0], second = a[1] | zero[1];
  const std::uint32_t both = inverse(product(first, second, channel), channel);
  a[0] = product(both, second, channel) & (zero[0] - 1);
  a[1] = product(both, first, channel) & (zero[1] - 1);
}

}  // namespace manymod::rns
