// SPDX-License-Identifier: Apache-2.0
// The kernels of technique division52: eight products x y mod n, or x y + z mod n, side by side, by long
// division in digits of 52 bits, with a modulus for each lane or one for all of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limb.hpp"

namespace manymod::division52 {

inline constexpr std::size_t kLanes = 8;
inline constexpr unsigned kDigitBits = 52;
/// Most limbs of a modulus: the columns of twice as many digits are below 2^63.
inline constexpr std::size_t kMaxLimbs = 256;

/// Numbers of up to this many limbs are computed as pairs of vectors.
inline constexpr std::size_t kPairedLimbs = 8;

/// Digits L of a modulus of `limbs` limbs: at least one bit is left, 64 limbs < 52 L.
constexpr std::size_t digits_for(std::size_t limbs) { return limbs * kLimbBits / kDigitBits + 1; }

/// Vectors of scratch beside those of an item's numbers.
inline constexpr std::size_t kScratchRows = 10;

/// Words of a block of divisors and of scratch, both aligned to 64 bytes.
constexpr std::size_t divisor_words(std::size_t limbs) { return (2 * digits_for(limbs) + 3) * kLanes; }
constexpr std::size_t scratch_words(std::size_t limbs) { return (6 * digits_for(limbs) + 32) * kLanes; }

/// The operands of eight products, in the canonical form of 64-bit limbs.
struct Products {
  const Limb* x[kLanes];
  const Limb* y[kLanes];
  const Limb* z[kLanes];  ///< addends, if z_limbs > 0
  Limb* r[kLanes];
  std::size_t x_limbs;  ///< limbs of each x, 1 <= x_limbs <= limbs
  std::size_t y_limbs;
  std::size_t z_limbs;  ///< limbs of each z, at most `limbs`; 0: nothing is added
  std::size_t limbs;    ///< of each modulus and of each r
};

/// The functions for one instruction set. A vector is eight lanes, whatever the width of its registers.
struct Kernels {
  /// Computes a block of divisors. On input: moduli of `limbs` <= kMaxLimbs limbs whose top limbs are not 0.
  /// Timing: variable.
  void (*set_divisors)(Limb* block, const Limb* const* moduli, std::size_t limbs, Limb* scratch);

  /// r = x y mod n or x y + z mod n, 0 <= r < n, in the lanes that are returned as a set of bits. On input:
  /// x, y, z of any value. Lanes where x is longer than n in bits, and lanes with a quotient digit that
  /// is too small by more than 1, as operands with long runs of zeros or ones have, are not computed, and
  /// their r is not written. Aliasing: r of a lane may be x, y or z of the same lane, and of no other lane
  /// that is computed. Timing: variable.
  std::uint8_t (*multiply)(const Products& operands, const Limb* block, Limb* scratch);

  /// The same for two vectors of equally long numbers, limbs <= kPairedLimbs; the second one's lanes are the
  /// upper bits. scratch: twice scratch_words. Aliasing: r may also be an operand of the other vector's
  /// lanes, as all operands are read first.
  std::uint16_t (*multiply_pair)(const Products (&operands)[2], const Limb* const (&blocks)[2],
                                 Limb* scratch);

  double limb_pair_ns;  ///< about how long an item takes for each pair of limbs of its operands
};

#if MANYMOD_X86_64
const Kernels& avx512_kernels();  ///< by AVX-512 IFMA
const Kernels& avx2_kernels();    ///< by products of doubles in two vectors of AVX2
/// Whether sums of products are rounded as MXCSR asks for, which emulators such as valgrind do not do. On
/// input: the processor has AVX2 and FMA.
bool avx2_rounds_toward_zero();
#endif

}  // namespace manymod::division52
