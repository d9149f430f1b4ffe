// SPDX-License-Identifier: Apache-2.0
// Classification of a modulus, on the host or by a kernel.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod {

/// compute: an engine computes the item; unit: the modulus is 1 or -1 and the result 0; zero, too_wide, even:
/// the item has no result.
enum class ModulusClass : std::uint8_t { compute, zero, unit, too_wide, even };

/// The properties of a modulus that a call branches on, in both timing classes.
struct ModulusFact {
  std::uint16_t limbs = 0;  ///< number of limbs without leading zero limbs, saturated at 65535
  ModulusClass modulus_class = ModulusClass::zero;
  std::uint8_t odd = 0;  ///< 0 or 1
};

/// Classify |n|.
///
/// On input: `limbs`: number of limbs of |n| without leading zero limbs; `low`, `top`: its lowest and highest
/// limb, 0 if limbs == 0; `modulus_bits`: upper bound on the length of the plan's moduli; `secret`: whether
/// the call is constant-time, in which case items with even moduli are not computed.
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
