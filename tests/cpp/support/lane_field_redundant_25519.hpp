// SPDX-License-Identifier: Apache-2.0
// The functions of field/redundant_25519.hpp by pointers, for tests that are not compiled for its instruction
// set.
#pragma once

#include <array>
#include <cstddef>

#include "core/limb.hpp"

namespace manymod::test {

/// Elements and uncarried numbers in memory: digit i of lane l at [i kLanes + l]. Ranges: as there.
struct Redundant25519Calls {
  static constexpr std::size_t kLanes = 8, kDigits = 5, kLimbs = 4;
  using Digits = std::array<Limb, kDigits * kLanes>;
  using Limbs = std::array<Limb, kLimbs * kLanes>;

  unsigned digit_bits;
  Limb digit_bound;  ///< above the digits of elements
  unsigned uncarried_bits;

  void (*from_limbs)(Digits& r, const Limbs& x);
  void (*to_limbs)(Limbs& x, const Digits& uncarried);
  // Products: elements, not carried, and carried.
  void (*mul)(Digits& uncarried, Digits& r, const Digits& a, const Digits& b);
  void (*mul_fixed)(Digits& uncarried, Digits& r, const Digits& a, const Digits& b);
  void (*mul_small)(Digits& uncarried, Digits& r, const Digits& a, Limb k);
  void (*sqr)(Digits& uncarried, Digits& r, const Digits& a);
  // Sums of uncarried numbers.
  void (*add)(Digits& r, const Digits& a, const Digits& b);
  void (*sub)(Digits& r, const Digits& a, const Digits& b);
};

/// Null on processors without AVX-512 IFMA.
const Redundant25519Calls* redundant_25519();

#if MANYMOD_X86_64
const Redundant25519Calls& avx512ifma_redundant_25519();
#endif

}  // namespace manymod::test
