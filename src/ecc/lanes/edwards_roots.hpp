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
  using Vectors = typename Kernels::Vectors;

 public:
  static void lift(const EdwardsBlock& b) {
    std::size_t v = 0;
    for (; v + kTogether <= b.vectors; v += kTogether) lift_some<kTogether>(b, v);
    for (; v < b.vectors; ++v) lift_some<1>(b, v);
  }

 private:
  /// Vectors whose powers are computed together. On Ed25519 a power is a chain of squares that wait for each
  /// other; on Ed448 a square has enough independent products by itself.
  static constexpr std::size_t kTogether = Prime::kLimb[0] % 4 == 3 ? 1 : 2;

  template <std::size_t kCount>
  static void lift_some(const EdwardsBlock& b, std::size_t first) {
    const auto curve = Kernels::coefficients();
    Element y, u[kCount], w[kCount], x[kCount];
    Mask exists[kCount];
    for (std::size_t i = 0; i < kCount; ++i) {
      Kernels::from_limbs(y, b.py, first + i);
      edwards::x_squared(Kernels::kField, u[i], w[i], y, curve);
    }
    roots_of_quotients<kCount>(x, exists, u, w);
    for (std::size_t i = 0; i < kCount; ++i) {
      Vectors::store(b.mask, first + i, exists[i]);
      Kernels::to_limbs(b.x, first + i, x[i]);
    }
  }

  /// x^2 = u / w where `exists`, a mask, is set. w is not 0.
  template <std::size_t kCount>
  static void roots_of_quotients(Element* x, Mask* exists, const Element* u, const Element* w) {
    if constexpr (Prime::kLimb[0] % 4 == 3) {
      for (std::size_t i = 0; i < kCount; ++i) exists[i] = root_modulo_3_of_4(x[i], u[i], w[i]);
    } else {
      Element t[kCount];
      for (std::size_t i = 0; i < kCount; ++i) begin_root_modulo_25519(x[i], t[i], u[i], w[i]);
      power<kCount>(t);
      for (std::size_t i = 0; i < kCount; ++i) exists[i] = end_root_modulo_25519(x[i], t[i], u[i], w[i]);
    }
  }

  /// x = u (u w)^((p-3)/4), as (u w)^((p-3)/4) = +-1 / sqrt(u w) if u w is a square. RFC 8032, section 5.2.3,
  /// has the same with more factors.
  [[gnu::noinline]] static Mask root_modulo_3_of_4(Element& x, const Element& u, const Element& w) {
    Element t;
    Kernels::multiply_into(t, u, w);
    Kernels::kField.inverse_square_root(x, t);
    Kernels::multiply_into(x, x, u);
    t = x;
    square<1>(&t, 1);
    Kernels::multiply_into(t, t, w);
    return Kernels::kField.equal(t, u);
  }

  // x = u w^3 (u w^7)^((p-5)/8) (RFC 8032, section 5.1.3); if w x^2 = -u, times a root of -1.

  /// x = u w^3, t = u w^7
  static void begin_root_modulo_25519(Element& x, Element& t, const Element& u, const Element& w) {
    static_assert(Prime::kBits == 255 || Prime::kLimb[0] % 4 == 3);
    t = w;
    square<1>(&t, 1);
    Kernels::multiply_into(t, t, w);
    Kernels::multiply_into(x, u, t);
    square<1>(&t, 1);
    Kernels::multiply_into(t, t, w);
    Kernels::multiply_into(t, t, u);
  }
  static Mask end_root_modulo_25519(Element& x, Element& t, const Element& u, const Element& w) {
    Element root, negative;
    Kernels::multiply_into(x, x, t);
    t = x;
    square<1>(&t, 1);
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
  /// r = r^((p-5)/8) = r^(2^252 - 3), by r^(2^k - 1) for k = 1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 250, of
  /// each of kCount elements.
  template <std::size_t kCount>
  static void power(Element* r) {
    Element base[kCount], five[kCount], ten[kCount], fifty[kCount];
    copy<kCount>(base, r);
    lengthen<kCount>(r, 1, base);
    lengthen<kCount>(r, 2, r);
    lengthen<kCount>(r, 1, base);
    copy<kCount>(five, r);
    lengthen<kCount>(r, 5, five);
    lengthen<kCount>(r, 10, r);
    lengthen<kCount>(r, 20, r);
    copy<kCount>(ten, five);
    lengthen<kCount>(ten, 5, five);
    lengthen<kCount>(r, 10, ten);
    copy<kCount>(fifty, r);
    lengthen<kCount>(r, 50, fifty);
    lengthen<kCount>(r, 100, r);
    lengthen<kCount>(r, 50, fifty);
    lengthen<kCount>(r, 2, base);
  }
  /// r = r^(2^count) a
  template <std::size_t kCount>
  static void lengthen(Element* r, unsigned count, const Element* a) {
    Element factor[kCount];
    copy<kCount>(factor, a);
    square<kCount>(r, count);
    for (std::size_t i = 0; i < kCount; ++i) Kernels::multiply_into(r[i], r[i], factor[i]);
  }
  template <std::size_t kCount>
  static void copy(Element* r, const Element* a) {
    for (std::size_t i = 0; i < kCount; ++i) r[i] = a[i];
  }
  /// r = r^(2^count)
  template <std::size_t kCount>
  [[gnu::noinline]] static void square(Element* r, unsigned count) {
    Element x[kCount];
    copy<kCount>(x, r);
    for (unsigned step = 0; step < count; ++step) {
      for (std::size_t i = 0; i < kCount; ++i) Kernels::kField.sqr(x[i], x[i]);
    }
    copy<kCount>(r, x);
  }
};

}  // namespace manymod::ecc::lanes
