// SPDX-License-Identifier: Apache-2.0
// Arithmetic in one channel on the device: an odd modulus m, 2^31 - 2^30 < m < 2^31, and residues as 32-bit
// words. docs/rns/theory.md, "Channels of 32-bit words", derives the bounds. All functions are constant-time
// in their residues. A result is "corrected" if it is in [0, m).
#pragma once

#include <cstdint>

#include "arch/cuda/byte_products.cuda.hpp"
#include "arch/cuda/wide.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/rns/layout.hpp"

namespace manymod::rns {

/// A channel in registers.
struct Channel : StoredChannel {
  /// 2^32 - m: adding x (2^32 - m) subtracts x m, without an instruction that negates.
  std::uint32_t negative = 0;
};
/// The stored channel with its negative modulus.
MM_DEVICE Channel channel_of(const StoredChannel& stored) { return {stored, 0 - stored.modulus}; }

/// T / 2^32 mod m, not corrected: at most T / 2^32 + m. On input: T + 2^32 m <= 2^64.
MM_DEVICE std::uint32_t reduce(cuda::Wide t, const Channel& channel) {
  return cuda::multiply_add(t.lo * channel.negative_inverse, channel.modulus, t).hi;
}

/// v mod m in [0, m). On input: v < 2 m. If v < m, then v - m wraps to at least 2^32 - m > v; otherwise v - m
/// < v.
MM_DEVICE std::uint32_t corrected(std::uint32_t v, const Channel& channel) {
  const std::uint32_t less = v - channel.modulus;
  return v < less ? v : less;
}

/// x c mod m by Shoup's product, not corrected: below (1 + x / 2^32) m. On input: c < m, quotient =
/// floor(2^32 c / m), any x < 2^32.
MM_DEVICE std::uint32_t product_by_quotient(std::uint32_t x, std::uint32_t c, std::uint32_t quotient,
                                            const Channel& channel) {
  return x * c + cuda::multiply(x, quotient).hi * channel.negative;
}
/// The same for the constant factor of the channel: in B, with one shared modulus but without roots, the
/// coordinate of t from x = s.
MM_DEVICE std::uint32_t coordinate(std::uint32_t x, const Channel& channel) {
  return product_by_quotient(x, channel.factor, channel.companion, channel);
}
/// In B with roots, the coordinate of t from s: s or 2 m - s, as the stored sign tells. On input: s <= 2 m.
MM_DEVICE std::uint32_t signed_coordinate(std::uint32_t s, const Channel& channel) {
  return s * channel.factor + channel.companion;
}

/// The byte sums S_0 .. S_3 of one target for one instance.
struct ChannelSums {
  std::uint32_t of_byte[4];
};
/// The byte sums of one channel quad and half.
template <unsigned kQuads>
MM_DEVICE ChannelSums sums_of(const cuda::ByteSums<kQuads>& sums, unsigned quad, unsigned half) {
  return {{sums.at(quad, half, 0), sums.at(quad, half, 1), sums.at(quad, half, 2), sums.at(quad, half, 3)}};
}

/// T mod m, not corrected, below 2 m, for T = S_0 + 2^8 S_1 + 2^16 S_2 + 2^24 S_3. On input: S_b < 2^31, and
/// the range of remainders of docs/rns.md holds. The result is T - q m with q = floor(Q / 2^15), Q = S_2 +
/// 2^8 S_3 + floor(S_1 / 2^8), so q is floor(T / 2^31) or slightly less; it is exact modulo 2^32. kNarrow: Q
/// < 2^32.
///
/// While tensor cores are busy, multiplications that need the high word cost much more than shifts, additions
/// and byte permutations.
template <bool kNarrow>
MM_DEVICE std::uint32_t remainder(const ChannelSums& sums, const Channel& channel) {
  const auto [s0, s1, s2, s3] = sums.of_byte;
  const std::uint32_t high = s2 + (s3 << 8);
  if constexpr (kNarrow) {
    // 2^16 Q + 2^8 (S_1 mod 2^8) mod 2^32: from the top, the low two bytes of Q, the low byte of S_1, and a
    // byte of copies of the top bit of S_1, which is 0.
    const std::uint32_t q = high + (s1 >> 8);
    return cuda::permute_bytes<0x540b>(s1, q) + s0 + (q >> 15) * channel.negative;
  } else {
    const std::uint32_t quotient = (s3 + ((s2 + (s1 >> 8)) >> 8)) >> 7;
    return s0 + (s1 << 8) + (high << 16) + quotient * channel.negative;
  }
}

/// One thread's share of the rank of residues in A, in units of 2^-8; `low` is in units of 2^-16. It is the
/// sum over residues of their bytes times the bytes of the weights (docs/rns/theory.md, "Bytes as
/// coordinates").
struct RankSum {
  std::uint32_t low = 0, high = 0;

  /// Adds the share of a stored residue of `channel`.
  MM_DEVICE void add(std::uint32_t residue, const Channel& channel) {
    low = cuda::add_byte_products(low, residue, channel.factor);
    high = cuda::add_byte_products(high, residue, channel.companion);
  }
  /// The share, rounded down to a multiple of 2^-8.
  MM_DEVICE std::uint32_t value() const { return high + (low >> 8); }
};

/// a b / 2^32 mod m, corrected. On input: a b < 2^32 m.
MM_DEVICE std::uint32_t product(std::uint32_t a, std::uint32_t b, const Channel& channel) {
  return corrected(reduce(cuda::multiply(a, b), channel), channel);
}

/// A constant c < m and floor(2^32 c / m), for Shoup's product.
struct ConstantByQuotient {
  std::uint32_t constant, quotient;
};
/// c and its quotient from the Montgomery form f = 2^32 c mod m. 2^32 c - f is a multiple of m, so the
/// quotient is -f / m modulo 2^32.
MM_DEVICE ConstantByQuotient by_quotient(std::uint32_t form, const Channel& channel) {
  return {corrected(reduce({form, 0}, channel), channel), form * channel.negative_inverse};
}

/// 2^64 / a mod m, corrected, or 0 for a = 0. On input: a < m. It is a^(m - 2) by Fermat's little theorem, in
/// windows of 2 bits, where each product has a factor 2^-32. Branches depend on digits of m - 2, which are
/// public.
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

/// Replaces a[i] by 2^64 / a[i] mod m, or 0 where a[i] = 0, with one inversion for both (Montgomery,
/// Mathematics of Computation 48, 1987): 2^64 / (a b / 2^32) times b / 2^32 is 2^64 / a. On input: a[i] < m.
/// On output: corrected.
MM_DEVICE void invert_both(std::uint32_t (&a)[2], const Channel& channel) {
  const std::uint32_t zero[2] = {static_cast<std::uint32_t>(a[0] == 0),
                                 static_cast<std::uint32_t>(a[1] == 0)};
  const std::uint32_t first = a[0] | zero[0], second = a[1] | zero[1];
  const std::uint32_t both = inverse(product(first, second, channel), channel);
  a[0] = product(both, second, channel) & (zero[0] - 1);
  a[1] = product(both, first, channel) & (zero[1] - 1);
}

}  // namespace manymod::rns
