// SPDX-License-Identifier: Apache-2.0
// What is to be done with one modulus, found on the host or by a kernel.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod {

enum class ModulusClass : std::uint8_t { compute, zero, unit, too_wide, even };

/// All that a call goes by, in both timing classes.
struct ModulusFact {
  std::uint16_t limbs = 0;  ///< without leading zero limbs, at most 65535
  ModulusClass modulus_class = ModulusClass::zero;
  std::uint8_t odd = 0;  ///< 0 or 1
};

/// Of a modulus of `limbs` limbs without leading zero limbs, `low` and `top` its lowest and highest (0 where
/// there are none), in a plan for moduli of up to `modulus_bits` bits.
MM_DEVICE ModulusFact modulus_fact(std::uint64_t limbs, std::uint64_t low, std::uint64_t top,
                                   std::uint64_t modulus_bits, bool secret) {
  const std::uint64_t max_limbs = (modulus_bits + 63) / 64;
  const std::uint64_t top_bits = modulus_bits % 64;
  ModulusFact fact;
  fact.limbs = static_cast<std::uint16_t>(limbs < 65535 ? limbs : 65535);
  fact.odd = static_cast<std::uint8_t>(low & 1);
  if (limbs == 0) {
    fact.modulus_class = ModulusClass::zero;
  } else if (limbs > max_limbs || (limbs == max_limbs && top_bits != 0 && (top >> top_bits) != 0)) {
    fact.modulus_class = ModulusClass::too_wide;
  } else if (limbs == 1 && low == 1) {
    fact.modulus_class = ModulusClass::unit;
  } else {
    fact.modulus_class = secret && fact.odd == 0 ? ModulusClass::even : ModulusClass::compute;
  }
  return fact;
}

}  // namespace manymod
