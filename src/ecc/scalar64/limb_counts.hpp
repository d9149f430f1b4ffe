// SPDX-License-Identifier: Apache-2.0
// The limb counts that engines are compiled for: fields between them take the next larger one.
#pragma once

#include <cstddef>
#include <memory>

#include "ecc/point_engine.hpp"

namespace manymod::ecc::scalar64 {

/// call<limbs of the arithmetic>() for fields of `limbs` limbs, at most those of MM_ECC_MAX_BITS bits.
template <class Call>
auto with_limb_count(std::size_t limbs, const Call& call) {
  if (limbs <= 4) return call.template operator()<4>();
  if (limbs <= 6) return call.template operator()<6>();
  if (limbs <= 8) return call.template operator()<8>();
  return call.template operator()<limbs_for_bits(MM_ECC_MAX_BITS)>();
}

template <class Engine>
std::unique_ptr<const PointEngine> make_engine(const Curve& curve) {
  return std::make_unique<const Engine>(curve);
}

}  // namespace manymod::ecc::scalar64
