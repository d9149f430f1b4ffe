// SPDX-License-Identifier: Apache-2.0
// Complete formulas for short Weierstrass curves y^2 = x^3 + a x + b in homogeneous coordinates: x = X / Z,
// y = Y / Z; infinity is (0, Y, 0) with any Y != 0.
//
// Source: J. Renes, C. Costello, L. Batina, "Complete addition formulas for prime order elliptic curves",
// EUROCRYPT 2016: algorithms 1 to 3 (any a), 4 to 6 (a = -3) and 7 to 9 (a = 0). With
//
//     XX = X1 X2, YY = Y1 Y2, ZZ = Z1 Z2, XY = X1 Y2 + X2 Y1, YZ = Y1 Z2 + Y2 Z1, XZ = X1 Z2 + X2 Z1,
//     w = a XZ + 3 b ZZ,  v = 3 XX + a ZZ,  u = a XX + 3 b XZ - a^2 ZZ
//
// each addition is
//
//     X3 = XY (YY - w) - YZ u,  Y3 = (YY + w) (YY - w) + v u,  Z3 = YZ (YY + w) + XY v.
//
// Exceptions. The law is wrong for P + Q only if P - Q is a point of order 2: then it gives (0, 0, 0). Curves
// of odd order have no such points; on others, mend_exception() repairs the sum. Doublings have none: P - P
// is infinity. Equal and opposite points, infinity and points with a coordinate 0 are no exceptions.
//
// All functions: on input and on output points have magnitude 1 and are on the curve. Aliasing: r may be an
// operand. Timing: constant-time.
#pragma once

#include <cstdint>

#include "core/portable.hpp"
#include "field/field.hpp"

namespace manymod::ecc {

template <field::Field F>
struct ProjectivePoint {
  typename F::Element x, y, z;
};

/// Any point but infinity.
template <field::Field F>
struct AffinePoint {
  typename F::Element x, y;
};

/// What the formulas exploit about the coefficient a.
enum class CoefficientA : std::uint8_t { any, minus_three, zero };

/// Coefficients of magnitude 1. a = -3 reads b alone, a = 0 reads b3 alone, any a reads a and b3 = 3 b.
template <field::Field F>
struct WeierstrassCoefficients {
  typename F::Element a, b, b3;
};

namespace complete {

/// Field operations of a formula. "constant": products with a, b or 3 b. Normalisations are not counted.
struct Cost {
  const char* name;
  unsigned mul, sqr, constant, add;
};
inline constexpr Cost kCosts[] = {
    {"add, any a", 12, 0, 5, 23},  {"add_affine, any a", 11, 0, 5, 17},  {"twice, any a", 8, 3, 5, 15},
    {"add, a = -3", 12, 0, 2, 29}, {"add_affine, a = -3", 11, 0, 2, 23}, {"twice, a = -3", 8, 3, 2, 21},
    {"add, a = 0", 12, 0, 2, 19},  {"add_affine, a = 0", 11, 0, 2, 13},  {"twice, a = 0", 6, 2, 1, 9},
};

namespace detail {

/// m(xx) = m(yy) = m(zz) = m(xy) = m(yz) = 1, m(xz) <= 3.
template <field::Field F>
struct Products {
  typename F::Element xx, yy, zz, xy, yz, xz;
};

/// r = x1 y2 + x2 y1 = (x1 + y1) (x2 + y2) - (xx + yy). m(r) = 3.
template <field::Field F>
MM_DEVICE void cross_product(const F& f, typename F::Element& r, const typename F::Element& x1,
                             const typename F::Element& y1, const typename F::Element& x2,
                             const typename F::Element& y2, const typename F::Element& xx,
                             const typename F::Element& yy) {
  typename F::Element s, t;
  f.add(s, x1, y1);
  f.add(t, x2, y2);
  f.mul(r, s, t);
  f.add(s, xx, yy);
  f.template sub<2>(r, r, s);
}

/// r = 3 a. m(r) = 3 m(a); r is not a.
template <field::Field F>
MM_DEVICE void triple(const F& f, typename F::Element& r, const typename F::Element& a) {
  f.add(r, a, a);
  f.add(r, r, a);
}

/// Six products and 12 additions.
template <field::Field F>
MM_DEVICE void products(const F& f, Products<F>& r, const ProjectivePoint<F>& p,
                        const ProjectivePoint<F>& q) {
  f.mul(r.xx, p.x, q.x);
  f.mul(r.yy, p.y, q.y);
  f.mul(r.zz, p.z, q.z);
  cross_product(f, r.xy, p.x, p.y, q.x, q.y, r.xx, r.yy);
  f.template normalize_weak<4>(r.xy, r.xy);
  cross_product(f, r.yz, p.y, p.z, q.y, q.z, r.yy, r.zz);
  f.template normalize_weak<4>(r.yz, r.yz);
  cross_product(f, r.xz, p.x, p.z, q.x, q.z, r.xx, r.zz);
}

/// The same with Z2 = 1: five products and 6 additions.
template <field::Field F>
MM_DEVICE void products(const F& f, Products<F>& r, const ProjectivePoint<F>& p, const AffinePoint<F>& q) {
  f.mul(r.xx, p.x, q.x);
  f.mul(r.yy, p.y, q.y);
  r.zz = p.z;
  cross_product(f, r.xy, p.x, p.y, q.x, q.y, r.xx, r.yy);
  f.template normalize_weak<4>(r.xy, r.xy);
  f.mul(r.yz, q.y, p.z);
  f.add(r.yz, r.yz, p.y);
  f.template normalize_weak<2>(r.yz, r.yz);
  f.mul(r.xz, q.x, p.z);
  f.add(r.xz, r.xz, p.x);
}

/// minus = YY - w, plus = YY + w, and u, v of the file's head. m(minus) m(plus) <= 4; m(minus), m(plus) <= 4;
/// m(v) m(u) <= 4; m(u), m(v) <= 4.
template <field::Field F>
struct Terms {
  typename F::Element minus, plus, u, v;
};

/// Algorithm 1: five products with constants.
template <field::Field F>
MM_DEVICE void terms_any(const F& f, Terms<F>& r, const Products<F>& s,
                         const WeierstrassCoefficients<F>& curve) {
  typename F::Element a_zz, t, w;
  f.mul(a_zz, curve.a, s.zz);
  f.mul(w, curve.a, s.xz);
  f.mul(t, curve.b3, s.zz);
  f.add(w, w, t);
  f.template sub<2>(r.minus, s.yy, w);
  f.add(r.plus, s.yy, w);
  f.template normalize_weak<4>(r.plus, r.plus);
  triple(f, r.v, s.xx);
  f.add(r.v, r.v, a_zz);
  f.template normalize_weak<4>(r.v, r.v);
  f.sub(t, s.xx, a_zz);
  f.mul(r.u, curve.a, t);
  f.mul(t, curve.b3, s.xz);
  f.add(r.u, r.u, t);
}

/// Algorithm 4: w = -3 (XZ - b ZZ), v = 3 (XX - ZZ), u = 3 (b XZ - XX - 3 ZZ).
template <field::Field F>
MM_DEVICE void terms_minus_three(const F& f, Terms<F>& r, const Products<F>& s,
                                 const WeierstrassCoefficients<F>& curve) {
  typename F::Element t, w, zz3;
  f.mul(t, curve.b, s.zz);
  f.sub(t, s.xz, t);
  f.template normalize_weak<4>(t, t);
  triple(f, w, t);  // the formula's -w
  f.add(r.minus, s.yy, w);
  f.template sub<4>(r.plus, s.yy, w);
  f.normalize_weak(r.plus, r.plus);
  triple(f, zz3, s.zz);
  f.mul(w, curve.b, s.xz);
  f.add(t, zz3, s.xx);
  f.template sub<4>(w, w, t);
  f.normalize_weak(w, w);
  triple(f, r.u, w);
  triple(f, r.v, s.xx);
  f.template sub<4>(r.v, r.v, zz3);
  f.normalize_weak(r.v, r.v);
}

/// Algorithm 7: w = 3 b ZZ, v = 3 XX, u = 3 b XZ.
template <field::Field F>
MM_DEVICE void terms_zero(const F& f, Terms<F>& r, const Products<F>& s,
                          const WeierstrassCoefficients<F>& curve) {
  typename F::Element w;
  f.mul(w, curve.b3, s.zz);
  f.sub(r.minus, s.yy, w);
  f.add(r.plus, s.yy, w);
  triple(f, r.v, s.xx);
  f.mul(r.u, curve.b3, s.xz);
}

/// r = a b + c d, or a b - c d. m(r) = 1. On input: m(a) m(b), m(c) m(d) <= 4.
template <bool kMinus, field::Field F>
MM_DEVICE void sum_of_products(const F& f, typename F::Element& r, const typename F::Element& a,
                               const typename F::Element& b, const typename F::Element& c,
                               const typename F::Element& d) {
  typename F::Element t, s;
  f.mul(s, a, b);
  f.mul(t, c, d);
  if constexpr (kMinus) {
    f.sub(s, s, t);
  } else {
    f.add(s, s, t);
  }
  f.template normalize_weak<2>(r, s);
}

template <CoefficientA kA, field::Field F>
MM_DEVICE void sum(const F& f, const WeierstrassCoefficients<F>& curve, ProjectivePoint<F>& r,
                   const Products<F>& s) {
  Terms<F> t;
  if constexpr (kA == CoefficientA::any) {
    terms_any(f, t, s, curve);
  } else if constexpr (kA == CoefficientA::minus_three) {
    terms_minus_three(f, t, s, curve);
  } else {
    terms_zero(f, t, s, curve);
  }
  sum_of_products<true>(f, r.x, s.xy, t.minus, s.yz, t.u);
  sum_of_products<false>(f, r.y, t.plus, t.minus, t.v, t.u);
  sum_of_products<false>(f, r.z, s.yz, t.plus, s.xy, t.v);
}

/// X3 = 2 X Y minus - 2 Y Z u, Y3 = plus minus + v u, Z3 = 8 Y Z YY. On input: m(minus) = 1, m(plus) <= 4,
/// m(v) = 1, m(u) <= 2.
template <field::Field F>
MM_DEVICE void double_from(const F& f, ProjectivePoint<F>& r, const typename F::Element& xy2,
                           const typename F::Element& yz2, const typename F::Element& yy, const Terms<F>& t) {
  sum_of_products<true>(f, r.x, xy2, t.minus, yz2, t.u);
  sum_of_products<false>(f, r.y, t.plus, t.minus, t.v, t.u);
  f.mul(r.z, yz2, yy);
  f.add(r.z, r.z, r.z);
  f.add(r.z, r.z, r.z);
  f.template normalize_weak<4>(r.z, r.z);
}

/// r = 2 a b. m(r) = 2.
template <field::Field F>
MM_DEVICE void twice_product(const F& f, typename F::Element& r, const typename F::Element& a,
                             const typename F::Element& b) {
  f.mul(r, a, b);
  f.add(r, r, r);
}

/// Algorithm 3.
template <field::Field F>
MM_DEVICE void twice_any(const F& f, const WeierstrassCoefficients<F>& curve, ProjectivePoint<F>& r,
                         const ProjectivePoint<F>& p) {
  typename F::Element xx, yy, zz, xy2, xz2, yz2, w, s;
  Terms<F> t;
  f.sqr(xx, p.x);
  f.sqr(yy, p.y);
  f.sqr(zz, p.z);
  twice_product(f, xy2, p.x, p.y);
  twice_product(f, xz2, p.x, p.z);
  twice_product(f, yz2, p.y, p.z);
  f.mul(w, curve.a, xz2);
  f.mul(s, curve.b3, zz);
  f.add(w, w, s);
  f.template sub<2>(t.minus, yy, w);
  f.template normalize_weak<4>(t.minus, t.minus);
  f.add(t.plus, yy, w);
  f.mul(zz, curve.a, zz);
  f.sub(s, xx, zz);
  f.mul(t.u, curve.a, s);
  f.mul(s, curve.b3, xz2);
  f.add(t.u, t.u, s);
  triple(f, t.v, xx);
  f.add(t.v, t.v, zz);
  f.template normalize_weak<4>(t.v, t.v);
  double_from(f, r, xy2, yz2, yy, t);
}

/// Algorithm 6.
template <field::Field F>
MM_DEVICE void twice_minus_three(const F& f, const WeierstrassCoefficients<F>& curve, ProjectivePoint<F>& r,
                                 const ProjectivePoint<F>& p) {
  typename F::Element xx, yy, zz, xy2, xz2, yz2, w, s;
  Terms<F> t;
  f.sqr(xx, p.x);
  f.sqr(yy, p.y);
  f.sqr(zz, p.z);
  twice_product(f, xy2, p.x, p.y);
  twice_product(f, xz2, p.x, p.z);
  twice_product(f, yz2, p.y, p.z);
  f.mul(s, curve.b, zz);
  f.template sub<2>(s, s, xz2);
  f.template normalize_weak<4>(s, s);
  triple(f, w, s);
  f.template sub<4>(t.minus, yy, w);
  f.normalize_weak(t.minus, t.minus);
  f.add(t.plus, yy, w);
  triple(f, w, zz);
  f.mul(s, curve.b, xz2);
  f.add(zz, w, xx);
  f.template sub<4>(s, s, zz);
  f.normalize_weak(s, s);
  triple(f, t.u, s);
  f.template normalize_weak<4>(t.u, t.u);
  triple(f, t.v, xx);
  f.template sub<4>(t.v, t.v, w);
  f.normalize_weak(t.v, t.v);
  double_from(f, r, xy2, yz2, yy, t);
}

/// Algorithm 9.
template <field::Field F>
MM_DEVICE void twice_zero(const F& f, const WeierstrassCoefficients<F>& curve, ProjectivePoint<F>& r,
                          const ProjectivePoint<F>& p) {
  typename F::Element yy, yy8, w, minus, plus, xy, yz;
  f.sqr(yy, p.y);
  f.add(yy8, yy, yy);
  f.add(yy8, yy8, yy8);
  f.add(yy8, yy8, yy8);
  f.normalize_weak(yy8, yy8);
  f.sqr(w, p.z);
  f.mul(w, curve.b3, w);
  f.mul(yz, p.y, p.z);
  f.mul(xy, p.x, p.y);
  triple(f, minus, w);
  f.template sub<4>(minus, yy, minus);
  f.normalize_weak(minus, minus);
  f.add(plus, yy, w);
  f.mul(r.z, yz, yy8);
  twice_product(f, r.x, minus, xy);
  f.template normalize_weak<2>(r.x, r.x);
  sum_of_products<false>(f, r.y, w, yy8, minus, plus);
}

/// r = the point if `mask`.
template <field::Field F>
MM_DEVICE void cmov(const F& f, ProjectivePoint<F>& r, const ProjectivePoint<F>& p,
                    const typename F::Mask& mask) {
  f.cmov(r.x, p.x, mask);
  f.cmov(r.y, p.y, mask);
  f.cmov(r.z, p.z, mask);
}

}  // namespace detail

/// r = p + q.
template <CoefficientA kA, field::Field F>
MM_DEVICE void add(const F& f, const WeierstrassCoefficients<F>& curve, ProjectivePoint<F>& r,
                   const ProjectivePoint<F>& p, const ProjectivePoint<F>& q) {
  detail::Products<F> s;
  detail::products(f, s, p, q);
  detail::sum<kA>(f, curve, r, s);
}

/// r = p + q.
template <CoefficientA kA, field::Field F>
MM_DEVICE void add_affine(const F& f, const WeierstrassCoefficients<F>& curve, ProjectivePoint<F>& r,
                          const ProjectivePoint<F>& p, const AffinePoint<F>& q) {
  detail::Products<F> s;
  detail::products(f, s, p, q);
  detail::sum<kA>(f, curve, r, s);
}

/// r = 2 p.
template <CoefficientA kA, field::Field F>
MM_DEVICE void twice(const F& f, const WeierstrassCoefficients<F>& curve, ProjectivePoint<F>& r,
                     const ProjectivePoint<F>& p) {
  if constexpr (kA == CoefficientA::any) {
    detail::twice_any(f, curve, r, p);
  } else if constexpr (kA == CoefficientA::minus_three) {
    detail::twice_minus_three(f, curve, r, p);
  } else {
    detail::twice_zero(f, curve, r, p);
  }
}

/// On input: r = p + q by the formulas above, on a curve that has points of order 2. On output: r = p + q
/// without exception. Aliasing: r is not p or q.
///
/// Where r is (0, 0, 0), P - Q has order 2, so P != Q. If neither is infinity, the chord through both gives
/// the sum, also for P = -Q, where it gives (0, Y, 0) with Y != 0 (EFD shortw/projective, add-1998-cmo-2).
template <field::Field F>
MM_DEVICE void mend_exception(const F& f, ProjectivePoint<F>& r, const ProjectivePoint<F>& p,
                              const ProjectivePoint<F>& q) {
  typename F::Element u, v, vv, y1z2, x1z2, zz, t;
  ProjectivePoint<F> chord;
  f.mul(u, q.y, p.z);
  f.mul(y1z2, p.y, q.z);
  f.sub(u, u, y1z2);  // u = Y2 Z1 - Y1 Z2: m = 2
  f.mul(v, q.x, p.z);
  f.mul(x1z2, p.x, q.z);
  f.sub(v, v, x1z2);  // v = X2 Z1 - X1 Z2
  f.template normalize_weak<2>(v, v);
  f.mul(zz, p.z, q.z);
  f.sqr(vv, v);
  f.mul(x1z2, vv, x1z2);  // R = v^2 X1 Z2
  f.mul(vv, vv, v);       // v^3
  f.sqr(t, u);
  f.mul(t, t, zz);
  f.sub(t, t, vv);
  f.sub(t, t, x1z2);
  f.sub(t, t, x1z2);  // A = u^2 Z1 Z2 - v^3 - 2 R
  f.template normalize_weak<4>(t, t);
  f.mul(chord.x, v, t);
  f.sub(x1z2, x1z2, t);
  f.mul(x1z2, u, x1z2);
  f.mul(y1z2, vv, y1z2);
  f.sub(chord.y, x1z2, y1z2);
  f.template normalize_weak<2>(chord.y, chord.y);
  f.mul(chord.z, vv, zz);
  detail::cmov(f, chord, q, f.is_zero(p.z));
  detail::cmov(f, chord, p, f.is_zero(q.z));
  detail::cmov(f, r, chord, f.is_zero(r.x) & f.is_zero(r.y) & f.is_zero(r.z));
}

}  // namespace complete
}  // namespace manymod::ecc
