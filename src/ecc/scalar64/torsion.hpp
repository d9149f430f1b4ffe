// SPDX-License-Identifier: Apache-2.0
// Whether a short Weierstrass curve has points of order 2, which the complete formulas must know.
// Variable-time: curves are public.
#pragma once

#include <cstddef>
#include <span>

#include "ecc/scalar64/powers.hpp"
#include "field/field.hpp"

namespace manymod::ecc::scalar64 {

/// A polynomial c[0] + c[1] x + c[2] x^2 modulo x^3 + a x + b, of coefficients of magnitude 1.
template <field::Field F>
struct CubicResidue {
  typename F::Element c[3];
};

/// r = r^2, by x^3 = -a x - b and x^4 = -a x^2 - b x.
template <field::Field F>
void square(const F& f, CubicResidue<F>& r, const typename F::Element& a, const typename F::Element& b) {
  typename F::Element low, middle, cubic, quartic, t;
  const auto accumulate = [&](typename F::Element& sum, const typename F::Element& coefficient,
                              const typename F::Element& factor) {
    f.mul(t, coefficient, factor);
    f.sub(sum, sum, t);
  };
  auto& [c0, c1, c2] = r.c;
  f.sqr(quartic, c2);
  f.mul(cubic, c1, c2);
  f.add(cubic, cubic, cubic);
  f.template normalize_weak<2>(cubic, cubic);
  f.sqr(middle, c1);
  f.mul(t, c0, c2);
  f.add(t, t, t);
  f.add(c2, middle, t);
  accumulate(c2, quartic, a);
  f.mul(low, c0, c1);
  f.add(c1, low, low);
  accumulate(c1, cubic, a);
  accumulate(c1, quartic, b);
  f.sqr(c0, c0);
  accumulate(c0, cubic, b);
  for (auto& coefficient : r.c) f.normalize_weak(coefficient, coefficient);
}

/// r = x r, by x^3 = -a x - b.
template <field::Field F>
void multiply_by_x(const F& f, CubicResidue<F>& r, const typename F::Element& a,
                   const typename F::Element& b) {
  typename F::Element t, minus_b_top;
  f.mul(minus_b_top, r.c[2], b);
  f.neg(minus_b_top, minus_b_top);
  f.mul(t, r.c[2], a);
  f.sub(t, r.c[0], t);
  r.c[2] = r.c[1];
  f.template normalize_weak<2>(r.c[1], t);
  f.template normalize_weak<2>(r.c[0], minus_b_top);
}

/// r = -(4 a^3 + 27 b^2), m(r) = 1.
template <field::Field F>
void discriminant(const F& f, typename F::Element& r, const typename F::Element& a,
                  const typename F::Element& b) {
  const auto triple = [&](typename F::Element& x) {
    typename F::Element twice;
    f.add(twice, x, x);
    f.add(x, twice, x);
    f.template normalize_weak<4>(x, x);
  };
  typename F::Element cube, square;
  f.sqr(cube, a);
  f.mul(cube, cube, a);
  f.add(cube, cube, cube);
  f.add(cube, cube, cube);
  f.sqr(square, b);
  for (int i = 0; i < 3; ++i) triple(square);
  f.add(cube, cube, square);
  f.template normalize_weak<8>(cube, cube);
  f.neg(r, cube);
  f.template normalize_weak<2>(r, r);
}

/// Whether x^3 + a x + b, without multiple roots, has a root modulo p: then a point (x, 0) has order 2. With
/// a discriminant that is no square there is one root (Stickelberger); otherwise there are three if x^p = x
/// modulo the polynomial, and none if not. On input: magnitude 1, p an odd prime.
template <field::Field F>
bool has_order_two_var(const F& f, const typename F::Element& a, const typename F::Element& b,
                       std::span<const Limb> p) {
  typename F::Element d, one;
  discriminant(f, d, a, b);
  if (!is_square_var(f, d, p)) return true;
  CubicResidue<F> power;  // x^e, e the bits of p from the top
  f.one(one);
  power.c[0] = one;
  f.zero(power.c[1]);
  f.zero(power.c[2]);
  for (std::size_t i = limbs::bit_length_var(p); i-- > 0;) {
    square(f, power, a, b);
    if (limbs::test_bit(p, i)) multiply_by_x(f, power, a, b);
  }
  return (f.is_zero(power.c[0]) & f.equal(power.c[1], one) & f.is_zero(power.c[2])) != 0;
}

}  // namespace manymod::ecc::scalar64
