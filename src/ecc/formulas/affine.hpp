// SPDX-License-Identifier: Apache-2.0
// Points of y^2 = x^3 + a x + b in affine coordinates, given the inverse of the denominator of the slope: for
// many points, whose denominators one inversion serves (field/running_product.hpp).
//
//   function     slope                   M   S
//   add          (y2 - y1) / (x2 - x1)   2   1
//   twice        (3 x^2 + a) / (2 y)     2   2
//
// Exceptions. add is for points with different x; of equal x, q is p, for which twice is, or -p. twice is for
// y other than 0. No function is for infinity.
//
// Magnitudes. On input and on output m = 1. Aliasing: r may be an operand. Timing: constant-time where the
// field is.
#pragma once

#include "core/portable.hpp"
#include "ecc/formulas/jacobian.hpp"
#include "field/field.hpp"

namespace manymod::ecc::affine {

using jacobian::AffinePoint;
using jacobian::Coefficient;
using jacobian::CoefficientA;

/// The third point of the line through p and a point with x = x2, negated.
template <class F>
MM_DEVICE void finish(const F& f, AffinePoint<F>& r, const typename F::Element& slope,
                      const AffinePoint<F>& p, const typename F::Element& x2) {
  typename F::Element x, t;
  f.sqr(x, slope);
  f.sub(x, x, p.x);
  f.sub(x, x, x2);
  f.template normalize_weak<4>(x, x);
  f.sub(t, p.x, x);
  f.mul(t, t, slope);
  f.sub(t, t, p.y);
  f.template normalize_weak<2>(r.y, t);
  r.x = x;
}

/// r = p + q, given inverse = 1 / (xq - xp).
template <class F>
MM_DEVICE void add(const F& f, AffinePoint<F>& r, const AffinePoint<F>& p, const AffinePoint<F>& q,
                   const typename F::Element& inverse) {
  typename F::Element slope;
  f.sub(slope, q.y, p.y);
  f.mul(slope, slope, inverse);
  finish(f, r, slope, p, q.x);
}

/// r = 2 p, given inverse = 1 / (2 y).
template <CoefficientA kA, class F>
MM_DEVICE void twice(const F& f, const Coefficient<F, kA>& coefficient, AffinePoint<F>& r,
                     const AffinePoint<F>& p, const typename F::Element& inverse) {
  typename F::Element slope, t;
  f.sqr(t, p.x);
  if constexpr (kA == CoefficientA::minus_three) {
    f.one(slope);
    f.sub(t, t, slope);
    f.template normalize_weak<2>(t, t);
  }
  f.add(slope, t, t);
  f.add(slope, slope, t);
  if constexpr (kA == CoefficientA::any) f.add(slope, slope, coefficient.a);
  f.mul(slope, slope, inverse);
  finish(f, r, slope, p, p.x);
  static_cast<void>(coefficient);
}

}  // namespace manymod::ecc::affine
