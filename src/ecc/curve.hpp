// SPDX-License-Identifier: Apache-2.0
// The numbers of a curve: what every backend of point arithmetic and every scheme reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limb.hpp"
#include "manymod/ecc.h"

namespace manymod::ecc {

/// Curves that have a name: their order is that of mm_ecc_curve_at.
enum class CurveId : std::uint8_t {
  p256,
  p384,
  p521,
  secp256k1,
  sm2,
  brainpool256r1,
  brainpool384r1,
  brainpool512r1,
  bn254,
  bls12_381,
  ed25519,
  x25519,
  ed448,
  x448,
  custom,
};

/// Weierstrass: y^2 = x^3 + a x + b. Edwards: a x^2 + y^2 = 1 + b x^2 y^2. Montgomery: v^2 = u^3 + a u^2 + u.
/// All numbers are little-endian limbs: those modulo p have limbs() limbs, those modulo n scalar_limbs().
struct Curve {
  CurveId id = CurveId::custom;
  std::string name;  ///< empty for a user's own
  mm_ecc_form form = MM_ECC_WEIERSTRASS;
  std::vector<Limb> p, a, b;
  std::vector<Limb> x, y;  ///< the generator; Montgomery: y is empty
  std::vector<Limb> n;     ///< its order, a prime
  std::vector<Limb> cofactor;
  std::size_t field_bits = 0;  ///< of p
  std::size_t order_bits = 0;  ///< of n: at most field_bits + 1

  [[nodiscard]] std::size_t limbs() const { return p.size(); }
  [[nodiscard]] std::size_t scalar_limbs() const { return n.size(); }
  [[nodiscard]] std::size_t coordinate_bytes() const { return (field_bits + 7) / 8; }
  [[nodiscard]] std::size_t scalar_bytes() const { return (order_bits + 7) / 8; }
  [[nodiscard]] bool has_cofactor_one() const { return cofactor.size() == 1 && cofactor[0] == 1; }
};

/// The named curves in the order of CurveId; they live as long as the process.
std::span<const Curve> named_curves();
/// On input: id != CurveId::custom.
const Curve& named_curve(CurveId id);
/// By a name or an alias of the standards, in any case; null if there is none.
const Curve* find_curve(std::string_view name);

}  // namespace manymod::ecc
