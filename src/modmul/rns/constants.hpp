// SPDX-License-Identifier: Apache-2.0
// Fills on the host what the kernels of residue number systems read, byte by byte as layout.hpp says.
//
// `bits` is everywhere the width of a row of kBasePairs (bases.hpp), the least that holds the modulus.
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

/// Channel j of base B.
constexpr std::uint32_t channel_of_b(unsigned j) { return kPrimes[kMostChannels + j]; }

/// Channel i of base A.
constexpr std::uint32_t channel_of_a(unsigned i) { return kPrimes[i]; }

/// The row of this width. @throws std::invalid_argument where there is none
constexpr const BasePair& bases_of(unsigned bits) {
  for (const BasePair& pair : kBasePairs) {
    if (pair.bits == bits) return pair;
  }
  throw std::invalid_argument("no bases of this width");
}

constexpr Sizes sizes_of(unsigned bits) { return {bases_of(bits).channels, bits / 32}; }

/// The constants for instances with a modulus each: Sizes::bytes() bytes.
std::vector<std::byte> base_constants(unsigned bits);

/// The constants for instances that share modulus n, or none where n cannot be computed with: it is 0 or not
/// prime to M_B. Fewer than one random n in 2^21 is refused. Time depends on sizes alone, and on whether n is
/// refused. What is returned depends on n: wipe it where n is secret. In: 0 <= n < 2^bits, in at most bits /
/// 64 limbs
std::vector<std::byte> modulus_constants(unsigned bits, std::span<const Limb> n);

/// Bring the matrices of the extensions, in constants of a width, into the order in which they stream: by
/// pieces.
void order_by_pieces(unsigned bits, const cuda::Pieces& pieces, std::span<std::byte> constants);

/// M_B^2 in words, the least significant first: modulo n it is what brings a number into Montgomery form.
std::vector<std::uint32_t> squared_radix(unsigned bits);

}  // namespace manymod::rns
