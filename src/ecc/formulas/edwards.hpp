// SPDX-License-Identifier: Apache-2.0
// Points of twisted Edwards curves a x^2 + y^2 = 1 + d x^2 y^2 in extended coordinates (X : Y : Z : T), where
// x = X / Z, y = Y / Z, T Z = X Y, over any field::Field.
//
// Where a is a square and d is none, no formula here has an exception: doublings, opposite points, the
// neutral element (0, 1) and points of small order are operands as any others, and Z is never 0.
//
//   function             source                                   M  S  constants  sums
//   add, cached          add-2008-hwcd-3 (EFD twisted extended-1)  8  0  -          6
//   add, prepared        madd-2008-hwcd-3                          7  0  -          6
//   double_point         dbl-2008-hwcd, a = -1                     4  4  -          6 + 2 weak reductions
//   add, x and y         add-2008-hwcd, a = 1                      9  0  -          7
//   add, prepared        madd-2008-hwcd, a = 1                     8  0  -          7
//   double_point_one     dbl-2008-hwcd, a = 1                      4  4  -          5 + 2 weak reductions
//   add_general          add-2008-hwcd                             9  0  a, d       7 + 1
//   double_general       dbl-2008-hwcd                             4  4  a          6 + 2
//   cache                                                          0  0  2 d        3
//
// A sum or a doubling without T saves one M: a doubling does not read T, so that T is needed only where an
// addition follows. Source: Hisil, Wong, Carter, Dawson, "Twisted Edwards curves revisited", Asiacrypt 2008,
// sections 3.1, 3.3 and 4.3. reference/ecc/formulas/edwards.py has the same formulas and counts.
//
// Magnitudes (field/field.hpp). Coordinates of points are 1. "Prepared" points are halves of what is usual,
// ((y + x) / 2, (y - x) / 2, d x y): then E, F, G, H of the addition are halves too, each a sum of two
// products of magnitude 1, and no operand needs a weak reduction. "Cached" points are not halves, (Y + X, Y -
// X, 2 Z, 2 d T), where 2 Z Z1 is a product of magnitude 1 likewise.
// For a = 1, E = X1 Y2 + Y1 X2 and H = Y1 Y2 - X1 X2 are a product of complex numbers by three products
// (Gauss): with s = Y2 (X1 + Y1), E = s - Y1 (Y2 - X2) and H = s - X1 (X2 + Y2), each the difference of two
// products, so that nothing needs a weak reduction. The usual E = (X1 + Y1) (X2 + Y2) - X1 X2 - Y1 Y2 does.
//
// Aliasing: results may be operands. Timing: that of the field; nothing here branches on a coordinate.
#pragma once

#include "core/portable.hpp"
#include "field/field.hpp"
#include "field/fused.hpp"
#include "field/uncarried.hpp"

namespace manymod::ecc::edwards {

/// All of magnitude 1. T is undefined where a function was told to leave it out.
template <field::Field F>
struct Extended {
  typename F::Element x, y, z, t;
};

/// An affine point of a curve with a = -1 as an operand of additions: ((y + x) / 2, (y - x) / 2, d x y), of
/// magnitudes 1, 1, at most 2.
template <field::Field F>
struct Prepared {
  typename F::Element plus, minus, t;
};

/// A point of a curve with a = -1 as an operand of additions: (Y + X, Y - X, 2 Z, 2 d T), of magnitudes at
/// most 2.
template <field::Field F>
struct Cached {
  typename F::Element plus, minus, z, t;
};

/// Whether a formula computes T of its result.
enum class WithT : bool { no, yes };

/// (0, 1).
template <field::Field F>
MM_DEVICE void set_neutral(const F& f, Extended<F>& r) {
  f.zero(r.x);
  f.one(r.y);
  f.one(r.z);
  f.zero(r.t);
}

/// r = the affine point (x, y), whose coordinates have magnitude 1.
template <field::Field F>
MM_DEVICE void set_affine(const F& f, Extended<F>& r, const typename F::Element& x,
                          const typename F::Element& y) {
  f.mul(r.t, x, y);
  r.x = x;
  r.y = y;
  f.one(r.z);
}

/// r = -p.
template <field::Field F>
MM_DEVICE void negate(const F& f, Extended<F>& r, const Extended<F>& p) {
  f.neg(r.x, p.x);
  f.template normalize_weak<2>(r.x, r.x);
  r.y = p.y;
  r.z = p.z;
  f.neg(r.t, p.t);
  f.template normalize_weak<2>(r.t, r.t);
}

/// r = mask ? p : r.
template <field::Field F>
MM_DEVICE void select(const F& f, Extended<F>& r, const Extended<F>& p, const typename F::Mask& mask) {
  f.cmov(r.x, p.x, mask);
  f.cmov(r.y, p.y, mask);
  f.cmov(r.z, p.z, mask);
  f.cmov(r.t, p.t, mask);
}

/// Where all coordinates have magnitude 1 and both points are of one curve: a mask, whether p = q.
template <field::Field F>
MM_DEVICE typename F::Mask equal(const F& f, const Extended<F>& p, const Extended<F>& q) {
  typename F::Element left, right;
  f.mul(left, p.x, q.z);
  f.mul(right, q.x, p.z);
  const typename F::Mask same_x = f.equal(left, right);
  f.mul(left, p.y, q.z);
  f.mul(right, q.y, p.z);
  return same_x & f.equal(left, right);
}

// ---- a = -1 ---------------------------------------------------------------------------------------------

/// The neutral element as an operand: ((1 + 0) / 2, (1 - 0) / 2, 0).
template <field::Field F>
MM_DEVICE void set_neutral(const F& f, Prepared<F>& r) {
  f.one(r.plus);
  f.half(r.plus, r.plus);
  r.minus = r.plus;
  f.zero(r.t);
}

/// r = (x, y) prepared. x, y and d have magnitude 1.
template <field::Field F>
MM_DEVICE void prepare(const F& f, Prepared<F>& r, const typename F::Element& x, const typename F::Element& y,
                       const typename F::Element& d) {
  typename F::Element product, sum, difference;
  f.mul(product, x, y);
  f.mul(product, product, d);
  f.add(sum, y, x);
  f.sub(difference, y, x);
  f.half(sum, sum);
  f.half(difference, difference);
  f.template normalize_weak<2>(r.plus, sum);
  f.template normalize_weak<2>(r.minus, difference);
  r.t = product;
}

/// r = p cached; d2 = 2 d of magnitude 1. p.t must be there.
template <field::Field F>
MM_DEVICE void cache(const F& f, Cached<F>& r, const Extended<F>& p, const typename F::Element& d2) {
  f.add(r.plus, p.y, p.x);
  f.sub(r.minus, p.y, p.x);
  f.add(r.z, p.z, p.z);
  f.mul(r.t, p.t, d2);
}

/// r = mask ? -r : r, for Prepared or Cached. T must have magnitude 1, and has 2 afterwards.
template <field::Field F, template <class> class Operand>
  requires requires(Operand<F>& r) { r.plus; }
MM_DEVICE void negate_where(const F& f, Operand<F>& r, const typename F::Mask& mask) {
  const typename F::Element plus = r.plus;
  f.cmov(r.plus, r.minus, mask);
  f.cmov(r.minus, plus, mask);
  typename F::Element negative;
  f.neg(negative, r.t);
  f.cmov(r.t, negative, mask);
}

/// r = (E F : G H : F G : E H) with F = d - c, G = d + c; E and H of magnitude 2.
template <WithT kWithT, field::Field F>
MM_DEVICE void finish(const F& f, Extended<F>& r, const field::Unmasked<F>& e, const field::Uncarried<F>& c,
                      const auto& d, const field::Unmasked<F>& h) {
  field::Unmasked<F> ff, g;
  f.sub(ff, d, c);
  f.add(g, d, c);
  f.mul(r.x, e, ff);
  f.mul(r.y, g, h);
  f.mul(r.z, ff, g);
  if constexpr (kWithT == WithT::yes) f.mul(r.t, e, h);
}

/// The same with E = b - a, H = b + a.
template <WithT kWithT, field::Field F>
MM_DEVICE void finish_sum(const F& f, Extended<F>& r, const field::Uncarried<F>& a,
                          const field::Uncarried<F>& b, const field::Uncarried<F>& c, const auto& d) {
  field::Unmasked<F> e, h;
  f.sub(e, b, a);
  f.add(h, b, a);
  finish<kWithT>(f, r, e, c, d, h);
}

/// r = p + q. On input: p has its T.
template <WithT kWithT = WithT::yes, field::Field F>
MM_DEVICE void add(const F& f, Extended<F>& r, const Extended<F>& p, const Prepared<F>& q) {
  field::Unmasked<F> minus, plus;
  field::Uncarried<F> a, b, c;
  f.sub(minus, p.y, p.x);
  f.add(plus, p.y, p.x);
  f.mul(a, minus, q.minus);
  f.mul(b, plus, q.plus);
  f.mul(c, p.t, q.t);
  const typename F::Element z = p.z;
  finish_sum<kWithT>(f, r, a, b, c, z);
}

/// r = p + q. On input: p has its T.
template <WithT kWithT = WithT::yes, field::Field F>
MM_DEVICE void add(const F& f, Extended<F>& r, const Extended<F>& p, const Cached<F>& q) {
  field::Unmasked<F> minus, plus;
  field::Uncarried<F> a, b, c, d;
  f.sub(minus, p.y, p.x);
  f.add(plus, p.y, p.x);
  f.mul(a, minus, q.minus);
  f.mul(b, plus, q.plus);
  f.mul(c, p.t, q.t);
  f.mul(d, p.z, q.z);
  finish_sum<kWithT>(f, r, a, b, c, d);
}

/// r = 2 p. E = X^2 + Y^2 - (X + Y)^2 and F = X^2 - Y^2 + 2 Z^2 would have magnitudes 3 and 4, and are
/// reduced.
template <WithT kWithT = WithT::yes, field::Field F>
MM_DEVICE void double_point(const F& f, Extended<F>& r, const Extended<F>& p) {
  field::Unmasked<F> sum, e, ff, g, h;
  field::Uncarried<F> a, b, c, s;
  f.add(sum, p.x, p.y);
  f.sqr(s, sum);
  f.sqr(a, p.x);
  f.sqr(b, p.y);
  f.sqr(c, p.z);
  field::add_sub(f, e, a, b, s);
  field::sub_add_twice(f, ff, a, b, c);
  f.add(h, a, b);
  f.sub(g, a, b);
  f.mul(r.x, e, ff);
  f.mul(r.y, g, h);
  f.mul(r.z, ff, g);
  if constexpr (kWithT == WithT::yes) f.mul(r.t, e, h);
}

// ---- a = 1 ----------------------------------------------------------------------------------------------

/// An affine point of a curve with a = 1 as an operand of additions: (x, y, d x y), of magnitudes at most 2,
/// 1, at most 2.
template <field::Field F>
struct PreparedOne {
  typename F::Element x, y, t;
};

/// A point of a curve with a = 1 as an operand of additions: (X, Y, Z, d T), likewise.
template <field::Field F>
struct CachedOne {
  typename F::Element x, y, z, t;
};

/// r = (x, y) prepared. x, y and d have magnitude 1.
template <field::Field F>
MM_DEVICE void prepare(const F& f, PreparedOne<F>& r, const typename F::Element& x,
                       const typename F::Element& y, const typename F::Element& d) {
  f.mul(r.t, x, y);
  f.mul(r.t, r.t, d);
  r.x = x;
  r.y = y;
}

/// r = p cached; d of magnitude 1. p.t must be there.
template <field::Field F>
MM_DEVICE void cache(const F& f, CachedOne<F>& r, const Extended<F>& p, const typename F::Element& d) {
  r.x = p.x;
  r.y = p.y;
  r.z = p.z;
  f.mul(r.t, p.t, d);
}

/// r = mask ? -r : r. x and T must have magnitude 1, and have 2 afterwards.
template <field::Field F, template <class> class Operand>
  requires requires(Operand<F>& r) { r.x; }
MM_DEVICE void negate_where(const F& f, Operand<F>& r, const typename F::Mask& mask) {
  typename F::Element negative;
  f.neg(negative, r.x);
  f.cmov(r.x, negative, mask);
  f.neg(negative, r.t);
  f.cmov(r.t, negative, mask);
}

/// E and H of p + q: see above. x of magnitude at most 2.
template <field::Field F>
MM_DEVICE void multiply_complex(const F& f, field::Unmasked<F>& e, field::Unmasked<F>& h,
                                const Extended<F>& p, const typename F::Element& x,
                                const typename F::Element& y) {
  field::Unmasked<F> sum, difference;
  field::Uncarried<F> s, t;
  f.add(sum, p.x, p.y);
  f.mul(s, sum, y);
  f.template sub<2>(difference, y, x);
  f.mul(t, p.y, difference);
  f.sub(e, s, t);
  f.add(sum, x, y);
  f.mul(t, p.x, sum);
  f.sub(h, s, t);
}

/// r = p + q. On input: p has its T.
template <WithT kWithT = WithT::yes, field::Field F>
MM_DEVICE void add(const F& f, Extended<F>& r, const Extended<F>& p, const PreparedOne<F>& q) {
  field::Unmasked<F> e, h;
  field::Uncarried<F> c;
  multiply_complex(f, e, h, p, q.x, q.y);
  f.mul(c, p.t, q.t);
  const typename F::Element z = p.z;
  finish<kWithT>(f, r, e, c, z, h);
}

/// r = p + q. On input: p has its T.
template <WithT kWithT = WithT::yes, field::Field F>
MM_DEVICE void add(const F& f, Extended<F>& r, const Extended<F>& p, const CachedOne<F>& q) {
  field::Unmasked<F> e, h;
  field::Uncarried<F> c, d;
  multiply_complex(f, e, h, p, q.x, q.y);
  f.mul(c, p.t, q.t);
  f.mul(d, p.z, q.z);
  finish<kWithT>(f, r, e, c, d, h);
}

/// r = 2 p: E = (X + Y)^2 - X^2 - Y^2 and F = X^2 + Y^2 - 2 Z^2 are reduced.
template <WithT kWithT = WithT::yes, field::Field F>
MM_DEVICE void double_point_one(const F& f, Extended<F>& r, const Extended<F>& p) {
  field::Unmasked<F> sum, e, ff, g, h;
  field::Uncarried<F> a, b, c, s;
  f.add(sum, p.x, p.y);
  f.sqr(s, sum);
  f.sqr(a, p.x);
  f.sqr(b, p.y);
  f.sqr(c, p.z);
  field::sub_both(f, e, s, a, b);
  field::add_sub_twice(f, ff, a, b, c);
  f.add(g, a, b);
  f.sub(h, a, b);
  f.mul(r.x, e, ff);
  f.mul(r.y, g, h);
  f.mul(r.z, ff, g);
  if constexpr (kWithT == WithT::yes) f.mul(r.t, e, h);
}

// ---- any a ----------------------------------------------------------------------------------------------

/// The coefficients, of magnitude 1, and whether a needs no multiplication.
template <field::Field F>
struct Coefficients {
  typename F::Element a, d;
  enum class Kind : unsigned char { one, minus_one, other } kind = Kind::other;
};

/// r = a x for x of magnitude 1; m(r) <= 1.
template <field::Field F>
MM_DEVICE void multiply_by_a(const F& f, typename F::Element& r, const typename F::Element& x,
                             const Coefficients<F>& curve) {
  using Kind = typename Coefficients<F>::Kind;
  if (curve.kind == Kind::one) {
    r = x;
  } else if (curve.kind == Kind::minus_one) {
    f.neg(r, x);
    f.template normalize_weak<2>(r, r);
  } else {
    f.mul(r, x, curve.a);
  }
}

/// r = p + q for any a. On input: p and q have their T.
template <WithT kWithT = WithT::yes, field::Field F>
MM_DEVICE void add_general(const F& f, Extended<F>& r, const Extended<F>& p, const Extended<F>& q,
                           const Coefficients<F>& curve) {
  typename F::Element a, b, c, d, e, g, h;
  f.add(g, p.x, p.y);
  f.add(h, q.x, q.y);
  f.mul(e, g, h);
  f.mul(a, p.x, q.x);
  f.mul(b, p.y, q.y);
  f.mul(c, p.t, q.t);
  f.mul(c, c, curve.d);
  f.mul(d, p.z, q.z);
  f.sub(e, e, a);
  f.sub(e, e, b);
  f.template normalize_weak<4>(e, e);
  multiply_by_a(f, a, a, curve);
  f.sub(h, b, a);
  f.add(g, d, c);
  f.sub(d, d, c);
  f.mul(r.x, e, d);
  f.mul(r.y, g, h);
  f.mul(r.z, d, g);
  if constexpr (kWithT == WithT::yes) f.mul(r.t, e, h);
}

/// r = 2 p for any a.
template <WithT kWithT = WithT::yes, field::Field F>
MM_DEVICE void double_general(const F& f, Extended<F>& r, const Extended<F>& p,
                              const Coefficients<F>& curve) {
  typename F::Element a, b, c, e, ff, g, h;
  f.add(e, p.x, p.y);
  f.sqr(e, e);
  f.sqr(a, p.x);
  f.sqr(b, p.y);
  f.sqr(c, p.z);
  f.add(c, c, c);
  f.sub(e, e, a);
  f.sub(e, e, b);
  multiply_by_a(f, a, a, curve);
  f.add(g, a, b);
  f.sub(h, a, b);
  f.template sub<2>(ff, g, c);
  f.template normalize_weak<4>(e, e);
  f.template normalize_weak<4>(ff, ff);
  f.mul(r.x, e, ff);
  f.mul(r.y, g, h);
  f.mul(r.z, ff, g);
  if constexpr (kWithT == WithT::yes) f.mul(r.t, e, h);
}

/// A mask: whether the affine point (x, y) of magnitude 1 is on the curve.
template <field::Field F>
MM_DEVICE typename F::Mask on_curve(const F& f, const typename F::Element& x, const typename F::Element& y,
                                    const Coefficients<F>& curve) {
  typename F::Element xx, yy, left, right, one;
  f.sqr(xx, x);
  f.sqr(yy, y);
  f.mul(right, xx, yy);
  f.mul(right, right, curve.d);
  f.one(one);
  f.add(right, right, one);
  multiply_by_a(f, left, xx, curve);
  f.add(left, left, yy);
  f.template normalize_weak<2>(left, left);
  f.template normalize_weak<2>(right, right);
  return f.equal(left, right);
}

/// x^2 = numerator / denominator for the y of a point, both of magnitude 1. Where a is a square and d none,
/// the denominator a - d y^2 is not 0.
template <field::Field F>
MM_DEVICE void x_squared(const F& f, typename F::Element& numerator, typename F::Element& denominator,
                         const typename F::Element& y, const Coefficients<F>& curve) {
  typename F::Element yy, one;
  f.sqr(yy, y);
  f.one(one);
  f.sub(numerator, one, yy);
  f.template normalize_weak<2>(numerator, numerator);
  f.mul(yy, yy, curve.d);
  f.sub(denominator, curve.a, yy);
  f.template normalize_weak<2>(denominator, denominator);
}

/// A square root of -1 modulo 2^255 - 19, 2^((p-1)/4), in 64-bit limbs.
inline constexpr std::uint64_t kRootOfMinusOne25519[4] = {0xc4ee1b274a0ea0b0, 0x2f431806ad2fe478,
                                                          0x2b4d00993dfbd7a7, 0x2b8324804fc1df0b};

}  // namespace manymod::ecc::edwards
