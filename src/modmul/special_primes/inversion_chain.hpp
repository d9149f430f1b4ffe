// SPDX-License-Identifier: Apache-2.0
// Powers x^e for exponents with few long runs of ones, such as p - 2 (inversion by Fermat) and (p + 1) / 4
// (square roots) for special primes: with u_k = x^(2^k - 1), a run of ones takes one product by each u_k that
// it is put together from, k a power of two, and those are intermediate results of the first run.
#pragma once

#include <bit>
#include <cstddef>
#include <iterator>

#include "modmul/special_primes/primes.hpp"

namespace manymod::special_primes {

/// r = r^(2^squarings) u_(2^piece)
struct PowerStep {
  unsigned squarings;
  unsigned piece;
};

struct PowerChain {
  static constexpr std::size_t kMaxSteps = 32;
  unsigned pieces = 0;  ///< u_1, u_2, u_4, .., u_(2^(pieces-1)) are computed, r begins with the last
  std::size_t count = 0;
  PowerStep step[kMaxSteps] = {};
  unsigned last_squarings = 0;  ///< r = r^(2^last_squarings) at the end
};

/// Whether p = 2^kBits - 1.
template <class Prime>
constexpr bool is_all_ones() {
  return std::size(Prime::kTerms) == 2 && Prime::kTerms[1].exponent == 0 && Prime::kTerms[1].factor == -1;
}

/// The chain of an exponent of `bits` bits that begins with a one; bit(i) is its bit i.
template <class Bit>
constexpr PowerChain power_chain(unsigned bits, const Bit& bit) {
  /// Ones from bit end - 1 downwards.
  const auto run = [&](unsigned end) {
    unsigned ones = 0;
    while (ones < end && bit(end - 1 - ones)) ++ones;
    return ones;
  };
  PowerChain chain;
  chain.pieces = static_cast<unsigned>(std::bit_width(run(bits)));
  unsigned end = bits - (1U << (chain.pieces - 1));
  while (end > 0) {
    const unsigned ones = run(end);
    if (ones == 0) {
      ++chain.last_squarings;
      --end;
      continue;
    }
    const unsigned widest = static_cast<unsigned>(std::bit_width(ones));
    const unsigned piece = (widest < chain.pieces ? widest : chain.pieces) - 1;
    end -= 1U << piece;
    chain.step[chain.count++] = {chain.last_squarings + (1U << piece), piece};
    chain.last_squarings = 0;
  }
  return chain;
}

/// x^(p-2) = 1 / x
template <class Prime>
constexpr PowerChain inversion_chain() {
  return power_chain(Prime::kBits, [](unsigned i) {
    // The lowest limb of each prime is above 2.
    const Limb limb = Prime::kLimb[i / kLimbBits] - (i < kLimbBits ? 2 : 0);
    return (limb >> i % kLimbBits & 1) != 0;
  });
}

/// x^((p+1)/4), a square root of squares for p = 3 mod 4
template <class Prime>
constexpr PowerChain square_root_chain() {
  static_assert(Prime::kLimb[0] % 4 == 3);
  return power_chain(Prime::kBits - 2 + (is_all_ones<Prime>() ? 1 : 0), [](unsigned i) {
    // Bit i + 2 of p + 1: bits above the lowest zero of p stay, those below it become 0.
    const auto bit = [](unsigned at) {
      return at < Prime::kBits && (Prime::kLimb[at / kLimbBits] >> at % kLimbBits & 1) != 0;
    };
    unsigned zero = 0;
    while (bit(zero)) ++zero;
    return i + 2 == zero || (i + 2 > zero && bit(i + 2));
  });
}

/// x^((p-3)/4), 1 / sqrt(x) or its negative for squares x and p = 3 mod 4
template <class Prime>
constexpr PowerChain inverse_square_root_chain() {
  static_assert(Prime::kLimb[0] % 4 == 3);
  return power_chain(Prime::kBits - 2, [](unsigned i) {
    return (Prime::kLimb[(i + 2) / kLimbBits] >> (i + 2) % kLimbBits & 1) != 0;
  });
}

}  // namespace manymod::special_primes
