// SPDX-License-Identifier: Apache-2.0
// How long public scalars are: sums of multiples by short ones take fewer windows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "ecc/point_engine.hpp"
#include "manymod/ecc.h"
#include "repr/limbs.hpp"

namespace manymod::ecc {

/// The bits of the longest scalar of `items`, at least 1. On input: scalars of curve.scalar_limbs() limbs.
/// Variable-time.
inline unsigned longest_scalar_var(const Curve& curve, const NumberRows& k, ItemRange items) {
  std::array<Limb, MM_ECC_MAX_BITS / kLimbBits + 1> any{};
  for (std::size_t item = items.begin; item < items.end; ++item) {
    for (std::size_t limb = 0; limb < curve.scalar_limbs(); ++limb) any[limb] |= k[item][limb];
  }
  const std::size_t bits = limbs::bit_length_var(std::span(any).first(curve.scalar_limbs()));
  return std::max(1U, static_cast<unsigned>(bits));
}

}  // namespace manymod::ecc
