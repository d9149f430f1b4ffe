// SPDX-License-Identifier: Apache-2.0
// Points of y^2 = x^3 + a x + b in Jacobian coordinates, x = X / Z^2, y = Y / Z^3, over any field of
// field/field.hpp. Z = 0 is the point at infinity.
//
//   function        formula (Explicit-Formulas Database, shortw/jacobian)              M   S
//   twice           a = -3: dbl-2001-b, with (X3, Y3, Z3) scaled to (X3/4, Y3/8, Z3/2)  4   4
//                   a = 0: dbl-2009-l, scaled likewise, products for squares            3   4
//                   any a: dbl-1998-cmo-2, scaled likewise                              4   6
//   add             add-1998-cmo-2                                                     12   4
//   add_mixed       madd (Hankerson, Menezes, Vanstone 2004, algorithm 3.22)            8   3
//   add_complete    add_mixed, twice, and a choice by masks (a = -3)                   15   8
//                   the same with add                                                  16   8
//   to_affine       given 1 / Z                                                         3   1
//
// Where the database has (x + y)^2 - x^2 - y^2 for a product 2 x y, the product is computed: on all backends
// the additions that a squaring would take cost more than it saves.
//
// Exceptions. twice has none: the double of infinity, and of points with y = 0, has Z3 = Y Z = 0. add and
// add_mixed have H = 0 for P + P and P + (-P), and for either Z = 0 at infinity: Z3 = Z1 (Z2) H = 0, which is
// right for P + (-P) alone. From then on each sum has Z = 0: one test of the last Z finds every exceptional
// case on the way to it.
//
// Magnitudes. On input and on output of all functions m = 1, but m(y) <= 2 for affine points on input.
// Aliasing: r may be an operand. Timing: constant-time where the field is.
#pragma once

#include "core/portable.hpp"
#include "field/field.hpp"
#include "field/fused.hpp"
#include "field/uncarried.hpp"

namespace manymod::ecc::jacobian {

template <class F>
struct Point {
  typename F::Element x, y, z;
};

/// Never infinity.
template <class F>
struct AffinePoint {
  typename F::Element x, y;
};

/// What is known of the coefficient a of a curve.
enum class CoefficientA { zero, minus_three, any };

/// The coefficient, for curves on which it is neither 0 nor -3.
template <class F, CoefficientA kA>
struct Coefficient {
  typename F::Element a;
};
template <class F>
struct Coefficient<F, CoefficientA::zero> {};
template <class F>
struct Coefficient<F, CoefficientA::minus_three> {};

/// r = 2 p. Products that do not depend on each other are neighbours, so that processors overlap them.
template <CoefficientA kA, class F>
MM_DEVICE void twice(const F& f, const Coefficient<F, kA>& coefficient, Point<F>& r, const Point<F>& p) {
  typename F::Element alpha;
  field::Unmasked<F> gamma, rest;
  field::Uncarried<F> beta, t;
  // alpha = (3 X^2 + a Z^4) / 2, m(alpha) <= 2, beta = X Y^2, gamma = Y^2
  if constexpr (kA == CoefficientA::minus_three) {
    field::Uncarried<F> zz;
    field::Unmasked<F> difference, sum;
    f.sqr(zz, p.z);
    f.sqr(gamma, p.y);
    f.sub(difference, p.x, zz);
    f.add(sum, p.x, zz);
    f.mul(t, difference, sum);
  } else {
    f.sqr(gamma, p.y);
    f.sqr(t, p.x);
  }
  field::three_halves(f, alpha, t);
  if constexpr (kA == CoefficientA::any) {
    field::Unmasked<F> power;
    typename F::Element az;
    f.sqr(power, p.z);
    f.sqr(power, power);
    f.mul(az, power, coefficient.a);
    f.half(az, az);
    f.add(alpha, alpha, az);
    f.template normalize_weak<4>(alpha, alpha);
  } else {
    static_cast<void>(coefficient);
  }
  f.mul(beta, p.x, gamma);
  f.sqr(t, alpha);
  f.mul(r.z, p.y, p.z);
  // X3 = alpha^2 - 2 beta, Y3 = alpha (beta - X3) - gamma^2
  field::sub_twice(f, r.x, rest, t, beta);
  field::mul_sub_sqr(f, r.y, alpha, rest, gamma);
}

/// H and R of an addition: differences of x Z^2 and of y Z^3. m = 2.
template <class F>
struct Differences {
  typename F::Element h, r;
};

/// The differences in p + q with q affine.
template <class F>
MM_DEVICE void differences(const F& f, Differences<F>& d, const Point<F>& p, const AffinePoint<F>& q) {
  field::Unmasked<F> power;
  field::Uncarried<F> t;
  f.sqr(power, p.z);
  f.mul(t, q.x, power);
  f.mul(power, power, p.z);
  f.sub(d.h, t, p.x);
  f.mul(t, q.y, power);
  f.sub(d.r, t, p.y);
}

/// The sum of a point with (x1, y1) = (X1 Z2^2, Y1 Z2^3) and another, from their differences; z = Z1 Z2, or
/// Z1 if the other is affine.
template <class F>
MM_DEVICE void finish_addition(const F& f, Point<F>& sum, const Differences<F>& d,
                               const typename F::Element& x1, const typename F::Element& y1,
                               const typename F::Element& z) {
  field::Unmasked<F> hh, rest;
  typename F::Element hhh;
  field::Uncarried<F> v, t;
  f.sqr(hh, d.h);
  f.mul(sum.z, z, d.h);
  f.mul(v, x1, hh);
  f.mul(hhh, hh, d.h);
  f.sqr(t, d.r);
  // X3 = R^2 - H^3 - 2 V, Y3 = R (V - X3) - Y1 H^3
  field::sub_and_twice(f, sum.x, rest, t, hhh, v);
  field::mul_sub(f, sum.y, d.r, rest, y1, hhh);
}

/// r = p + q, for p other than q, -q and infinity.
template <class F>
MM_DEVICE void add_mixed(const F& f, Point<F>& r, const Point<F>& p, const AffinePoint<F>& q) {
  Differences<F> d;
  differences(f, d, p, q);
  finish_addition(f, r, d, p.x, p.y, p.z);
}

/// The differences in p + q; (x1, y1) = (X1 Z2^2, Y1 Z2^3).
template <class F>
MM_DEVICE void differences(const F& f, Differences<F>& d, typename F::Element& x1, typename F::Element& y1,
                           const Point<F>& p, const Point<F>& q) {
  field::Unmasked<F> power;
  field::Uncarried<F> u;
  f.sqr(power, q.z);
  f.mul(x1, p.x, power);
  f.mul(power, power, q.z);
  f.mul(y1, p.y, power);
  f.sqr(power, p.z);
  f.mul(u, q.x, power);
  f.sub(d.h, u, x1);
  f.mul(power, power, p.z);
  f.mul(u, q.y, power);
  f.sub(d.r, u, y1);
}

/// r = p + q, for p other than q and -q, neither at infinity.
template <class F>
MM_DEVICE void add(const F& f, Point<F>& r, const Point<F>& p, const Point<F>& q) {
  Differences<F> d;
  typename F::Element x1, y1, z;
  differences(f, d, x1, y1, p, q);
  f.mul(z, p.z, q.z);
  finish_addition(f, r, d, x1, y1, z);
}

/// r = mask ? p : r.
template <class F>
MM_DEVICE void select(const F& f, Point<F>& r, const Point<F>& p, const typename F::Mask& mask) {
  f.cmov(r.x, p.x, mask);
  f.cmov(r.y, p.y, mask);
  f.cmov(r.z, p.z, mask);
}

/// r = q.
template <class F>
MM_DEVICE void from_affine(const F& f, Point<F>& r, const AffinePoint<F>& q) {
  r.x = q.x;
  f.template normalize_weak<2>(r.y, q.y);
  f.one(r.z);
}

/// r = p + q for any p and any q other than infinity, given sum = p + q of add_mixed, which it loses, and
/// doubled = 2 p. r may be p or sum.
template <class F>
MM_DEVICE void complete_addition(const F& f, Point<F>& r, const Point<F>& p, const AffinePoint<F>& q,
                                 Point<F>& sum, const Point<F>& doubled) {
  // Where Z3 = 0, p is q, -q or infinity; then R = 0 for p = q.
  Differences<F> d;
  differences(f, d, p, q);
  f.template normalize_weak<2>(d.r, d.r);
  const typename F::Mask p_infinite = f.is_zero(p.z);
  const typename F::Mask same = f.is_zero(sum.z) & f.is_zero(d.r) & ~p_infinite;
  select(f, sum, doubled, same);
  Point<F> other;
  from_affine(f, other, q);
  select(f, sum, other, p_infinite);
  r = sum;
}

/// r = p + q for any p and any q other than infinity.
template <CoefficientA kA, class F>
MM_DEVICE void add_complete(const F& f, const Coefficient<F, kA>& coefficient, Point<F>& r, const Point<F>& p,
                            const AffinePoint<F>& q) {
  Point<F> sum, doubled;
  add_mixed(f, sum, p, q);
  twice(f, coefficient, doubled, p);
  complete_addition(f, r, p, q, sum, doubled);
}

/// r = p + q for any points.
template <CoefficientA kA, class F>
MM_DEVICE void add_complete(const F& f, const Coefficient<F, kA>& coefficient, Point<F>& r, const Point<F>& p,
                            const Point<F>& q) {
  Differences<F> d;
  Point<F> sum, doubled;
  typename F::Element x1, y1, z;
  differences(f, d, x1, y1, p, q);
  f.mul(z, p.z, q.z);
  finish_addition(f, sum, d, x1, y1, z);
  twice(f, coefficient, doubled, p);
  // Where Z3 = 0 and neither is infinity, p is q or -q; then R = 0 for p = q.
  f.template normalize_weak<2>(d.r, d.r);
  const typename F::Mask p_infinite = f.is_zero(p.z), q_infinite = f.is_zero(q.z);
  const typename F::Mask same = f.is_zero(sum.z) & f.is_zero(d.r) & ~(p_infinite | q_infinite);
  select(f, sum, doubled, same);
  select(f, sum, q, p_infinite);
  select(f, sum, p, q_infinite);
  r = sum;
}

/// A mask: whether p = q, of any points. 6M + 2S.
template <class F>
MM_DEVICE typename F::Mask equal(const F& f, const Point<F>& p, const Point<F>& q) {
  Differences<F> d;
  typename F::Element x1, y1;
  differences(f, d, x1, y1, p, q);
  f.template normalize_weak<2>(d.h, d.h);
  f.template normalize_weak<2>(d.r, d.r);
  const typename F::Mask p_infinite = f.is_zero(p.z), q_infinite = f.is_zero(q.z);
  const typename F::Mask same = f.is_zero(d.h) & f.is_zero(d.r) & ~(p_infinite | q_infinite);
  return same | (p_infinite & q_infinite);
}

/// The affine form of p, given z = 1 / Z, m(z) = 1. On output: m = 1.
template <class F>
MM_DEVICE void to_affine(const F& f, AffinePoint<F>& r, const Point<F>& p, const typename F::Element& z) {
  typename F::Element zz, zzz;
  f.sqr(zz, z);
  f.mul(zzz, zz, z);
  f.mul(r.x, p.x, zz);
  f.mul(r.y, p.y, zzz);
}

}  // namespace manymod::ecc::jacobian
