// SPDX-License-Identifier: Apache-2.0
// The limb of canonical numbers, and the size limits of moduli.
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod {

using Limb = std::uint64_t;
inline constexpr std::size_t kLimbBits = 64;
inline constexpr std::size_t kMaxModulusBits = 16384;
inline constexpr std::size_t kMaxModulusLimbs = kMaxModulusBits / kLimbBits;

/// ceil(bits / 64), the number of limbs that hold `bits` bits.
constexpr std::size_t limbs_for_bits(std::size_t bits) { return (bits + kLimbBits - 1) / kLimbBits; }

}  // namespace manymod
