// SPDX-License-Identifier: Apache-2.0
// Exponents in 64-bit limbs, as modexp/recoding.hpp reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "repr/limbs.hpp"

namespace manymod::recoding {

/// The bits of an exponent of little-endian limbs. Constant-time but for the number of limbs.
class LimbBits {
 public:
  explicit LimbBits(std::span<const Limb> exponent) : exponent_(exponent) {}

  std::uint32_t operator()(std::size_t first, std::size_t count) const {
    return limbs::extract_bits(exponent_, first, count);
  }

 private:
  std::span<const Limb> exponent_;
};

}  // namespace manymod::recoding
