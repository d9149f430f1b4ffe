// SPDX-License-Identifier: Apache-2.0
// x of points with a given y on Edwards curves in lanes. For inclusion in instruction-set files only.
#pragma once

#include <cstddef>

#include "ecc/formulas/edwards.hpp"
#include "ecc/lanes/edwards_lane_calls.hpp"

namespace manymod::ecc::lanes {

/// `Kernels`: EdwardsKernels of the curve and the instruction set.
template <class Kernels>
class EdwardsRoots {
  using Element = typename Kernels::Element;
  using Mask = typename Kernels::Mask;
  using Prime = typename Kernels::Prime;

 public:
  static void lift(const EdwardsBlock& b) {
    const auto curve = Kernels::coefficients();
    Element y, u, w, x;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Kernels::from_limbs(y, b.py, v);
      edwards::x_squared(Kernels::kField, u, w, y, curve);
      Kernels::store(b.mask, v, root_of_quotient(x, u, w));
      Kernels::to_limbs(b.x, v, x);
    }
  }

 private:
  /// x^2 = u / w where the result, a mask, is set. w is not 0.
  static Mask root_of_quotient(Element& x, const Element& u, const Element& w) {
    if constexpr (Prime::kLimb[0] % 4 == 3) return root_modulo_3_of_4(x, u, w);
    if constexpr (Prime::kLimb[0] % 4 != 3) return root_modulo_25519(x, u, w);
  }

  /// x = u (u w)^((p-3)/4), as (u w)^((p-3)/4) = +-1 / sqrt(u w) if u w is a square. RFC 8032, section 5.2.3,
  /// has the same with more factors.
  [[gnu::noinline]] static Mask root_modulo_3_of_4(Element& x, const Element& u, const Element& w) {
    Element t;
    Kernels::multiply_into(t, u, w);
    Kernels::kField.inverse_square_root(x, t);
    Kernels::multiply_into(x, x, u);
    t = x;
    Kernels::square(t, 1);
    Kernels::multiply_into(t, t, w);
    return Kernels::kField.equal(t, u);
  }

  /// x = u w^3 (u w^7)^((p-5)/8) (RFC 8032, section 5.1.3); if w x^2 = -u, times a root of -1.
  static Mask root_modulo_25519(Element& x, const Element& u, const Element& w) {
    static_assert(Prime::kBits == 255 || Prime::kLimb[0] % 4 == 3);
    Element t = w, root, negative;
    Kernels::square(t, 1);
    Kernels::multiply_into(t, t, w);
    Kernels::multiply_into(x, u, t);
    Kernels::square(t, 1);
    Kernels::multiply_into(t, t, w);
    Kernels::multiply_into(t, t, u);
    power(t);
    Kernels::multiply_into(x, x, t);
    t = x;
    Kernels::square(t, 1);
    Kernels::multiply_into(t, t, w);
    const Mask square_of_u = Kernels::kField.equal(t, u);
    Kernels::kField.neg(negative, u);
    Kernels::kField.template normalize_weak<2>(negative, negative);
    const Mask square_of_minus_u = Kernels::kField.equal(t, negative);
    Kernels::constant(root, edwards::kRootOfMinusOne25519);
    Kernels::multiply_into(t, x, root);
    Kernels::kField.cmov(x, t, ~square_of_u);
    return square_of_u | square_of_minus_u;
  }
  /// r = r^((p-5)/8) = r^(2^252 - 3), by r^(2^k - 1) for k = 1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 250.
  static void power(Element& r) {
    const Element base = r;
    Element five, fifty;
    lengthen(r, 1, base);
    lengthen(r, 2, r);
    lengthen(r, 1, base);
    five = r;
    lengthen(r, 5, five);
    lengthen(r, 10, r);
    lengthen(r, 20, r);
    Element ten = five;
    lengthen(ten, 5, five);
    lengthen(r, 10, ten);
    fifty = r;
    lengthen(r, 50, fifty);
    lengthen(r, 100, r);
    lengthen(r, 50, fifty);
    lengthen(r, 2, base);
  }
  /// r = r^(2^count) a
  static void lengthen(Element& r, unsigned count, const Element& a) {
    const Element factor = a;
    Kernels::square(r, count);
    Kernels::multiply_into(r, r, factor);
  }
};

}  // namespace manymod::ecc::lanes
