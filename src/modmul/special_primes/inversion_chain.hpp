// SPDX-License-Identifier: Apache-2.0
// Inversion by Fermat, x^(p-2), for primes whose p - 2 has few long runs of ones: with u_k = x^(2^k - 1), a
// run of ones takes one product by each u_k that it is put together from, k a power of two, and those are
// intermediate results of the first run.
#pragma once

#include <bit>
#include <cstddef>

#include "modmul/special_primes/primes.hpp"

namespace manymod::special_primes {

/// r = r^(2^squarings) u_(2^piece)
struct InversionStep {
  unsigned squarings;
  unsigned piece;
};

struct InversionChain {
  static constexpr std::size_t kMaxSteps = 32;
  unsigned pieces = 0;  ///< u_1, u_2, u_4, .., u_(2^(pieces-1)) are computed, r begins with the last
  std::size_t count = 0;
  InversionStep step[kMaxSteps] = {};
};

template <class Prime>
constexpr InversionChain inversion_chain() {
  const auto bit = [](unsigned i) {
    // p - 2: the lowest limb of each prime is above 2.
    const Limb limb = Prime::kLimb[i / kLimbBits] - (i < kLimbBits ? 2 : 0);
    return limb >> i % kLimbBits & 1;
  };
  /// Ones from bit end - 1 downwards.
  const auto run = [&](unsigned end) {
    unsigned ones = 0;
    while (ones < end && bit(end - 1 - ones) != 0) ++ones;
    return ones;
  };
  InversionChain chain;
  chain.pieces = static_cast<unsigned>(std::bit_width(run(Prime::kBits)));
  unsigned end = Prime::kBits - (1U << (chain.pieces - 1));
  unsigned squarings = 0;
  while (end > 0) {
    const unsigned ones = run(end);
    if (ones == 0) {
      ++squarings;
      --end;
      continue;
    }
    const unsigned widest = static_cast<unsigned>(std::bit_width(ones));
    const unsigned piece = (widest < chain.pieces ? widest : chain.pieces) - 1;
    squarings += 1U << piece;
    end -= 1U << piece;
    chain.step[chain.count++] = {squarings, piece};
    squarings = 0;
  }
  return chain;
}

}  // namespace manymod::special_primes
