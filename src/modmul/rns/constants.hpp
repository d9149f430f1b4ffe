// SPDX-License-Identifier: Apache-2.0
// Builds on the host what the kernels read, byte for byte in the layout of layout.hpp.
//
// In every function `bits` is the width of a row of kBasePairs (bases.hpp): the smallest that holds the
// modulus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "arch/cuda/stream_shape.hpp"
#include "modmul/rns/bases.hpp"
#include "modmul/rns/layout.hpp"
#include "repr/canonical.hpp"

namespace manymod::rns {

/// Prime j of base B.
constexpr std::uint32_t channel_of_b(unsigned j) { return kPrimes[kMostChannels + j]; }

/// Prime i of base A.
constexpr std::uint32_t channel_of_a(unsigned i) { return kPrimes[i]; }

/// The row of this width. @throws std::invalid_argument if there is none
constexpr const BasePair& bases_of(unsigned bits) {
  for (const BasePair& pair : kBasePairs) {
    if (pair.bits == bits) return pair;
  }
  throw std::invalid_argument("no bases of this width");
}

/// The sizes of the constants of this width. @throws std::invalid_argument if there is none
constexpr ConstantsLayout sizes_of(unsigned bits) { return {bases_of(bits).channels, bits / 32}; }

/// The constants for instances with a modulus each: ConstantsLayout::bytes() bytes, a copy of a table that is
/// built once per width and cached. Thread-safe.
std::vector<std::byte> base_constants(unsigned bits);

/// The constants for instances that share modulus n, or an empty vector if n is refused: n is 0 or not prime
/// to M_B. Fewer than one random n in 2^21 is refused. On input: 0 <= n < 2^bits in at most bits / 64 limbs.
/// Constant-time in n except for whether n is refused. The result depends on n: the caller wipes it where n
/// is secret. @throws std::invalid_argument if n is too long
std::vector<std::byte> modulus_constants(unsigned bits, std::span<const Limb> n);

/// Reorders the two extension matrices within the constants of a width, in place, into the order in which
/// they stream: tile by tile.
void order_by_tiles(unsigned bits, const cuda::Tiles& tiles, std::span<std::byte> constants);

/// M_B^2 in little-endian words. Modulo n it is the factor that brings a number into Montgomery form.
std::vector<std::uint32_t> squared_radix(unsigned bits);

}  // namespace manymod::rns
