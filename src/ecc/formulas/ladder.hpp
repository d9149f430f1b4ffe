// SPDX-License-Identifier: Apache-2.0
// Montgomery's ladder on the u coordinates of a Montgomery curve v^2 = u^3 + A u^2 + u as (X : Z), u = X / Z,
// over any field::Field, or over several elements of one together (field/interleaved.hpp). Z = 0 is the point
// at infinity.
//
//   function   source                                        M  S  constants  sums
//   step       RFC 7748, section 5; Montgomery 1987, p. 261   5  4  a24        8
//
// The step maps P, Q with Q - P = D to 2 P, P + Q, and has no exception but D = (0, 0), where Z of the sum is
// 0. That is X25519's all-zero result. reference/ecc/formulas/ladder.py has the same formula and counts.
//
// Magnitudes (field/field.hpp): coordinates are 1; sums and differences of two of them are 2, and so are E
// and AA + a24 E, whose product is allowed.
//
// Timing: that of the field; nothing here branches on a coordinate or on a bit of the scalar.
#pragma once

#include "core/portable.hpp"
#include "field/field.hpp"
#include "field/fused.hpp"
#include "field/uncarried.hpp"

namespace manymod::ecc::ladder {

/// A point X / Z with coordinates of magnitude 1.
template <class F>
struct Point {
  field::Uncarried<F> x, z;
};

/// P and P + D.
template <class F>
struct Pair {
  Point<F> low, high;
};

/// P = infinity, and D = (u, .), u of magnitude 1.
template <class F>
MM_DEVICE void start(const F& f, Pair<F>& r, const typename F::Element& u) {
  f.one(r.low.x);
  f.zero(r.low.z);
  field::convert(f, r.high.x, u);
  f.one(r.high.z);
}

/// r = mask ? (high, low) : (low, high).
template <class F>
MM_DEVICE void swap_where(const F& f, Pair<F>& r, const typename F::Mask& mask) {
  const Point<F> low = r.low;
  f.cmov(r.low.x, r.high.x, mask);
  f.cmov(r.low.z, r.high.z, mask);
  f.cmov(r.high.x, low.x, mask);
  f.cmov(r.high.z, low.z, mask);
}

/// (P, Q) -> (2 P, P + Q), or, where `high` is set, -> (2 Q, P + Q). u, of magnitude 1, is that of D = Q - P
/// or P - Q; a24 = (A - 2) / 4, an element of magnitude 1 or field::Small.
///
/// Exchanging P and Q exchanges the cross products D A and C B, and the sum is made of D A + C B and
/// (D A - C B)^2: only the operands of the doubling are selected.
template <class F, class Constant>
MM_DEVICE void step(const F& f, Pair<F>& r, const typename F::Mask& high, const typename F::Element& u,
                    const Constant& a24) {
  field::Unmasked<F> a, b, c, d, e;
  f.add(a, r.low.x, r.low.z);
  f.sub(b, r.low.x, r.low.z);
  f.add(c, r.high.x, r.high.z);
  f.sub(d, r.high.x, r.high.z);
  field::Uncarried<F> da, cb, multiple;
  f.mul(da, d, a);
  f.mul(cb, c, b);
  f.cmov(a, c, high);
  f.cmov(b, d, high);
  typename F::Element aa, bb;
  f.sqr(aa, a);
  f.sqr(bb, b);
  f.mul(r.low.x, aa, bb);
  f.sub(e, aa, bb);
  field::mul_constant(f, multiple, e, a24);
  f.add(a, aa, multiple);
  f.mul(r.low.z, e, a);
  f.add(c, da, cb);
  f.sub(d, da, cb);
  f.sqr(r.high.x, c);
  f.sqr(d, d);
  f.mul(r.high.z, d, u);
}

/// The same in an order for cores that compute ahead of dependent instructions but not far: next to each
/// other are products that do not wait for each other. More numbers are alive at a time.
template <class F, class Constant>
__attribute__((always_inline)) inline void spread_step(const F& f, Pair<F>& r, const typename F::Mask& high,
                                                       const field::FixedFactor<F>& u, const Constant& a24) {
  field::Unmasked<F> a, b, c, d, e;
  f.add(a, r.low.x, r.low.z);
  f.sub(b, r.low.x, r.low.z);
  f.add(c, r.high.x, r.high.z);
  f.sub(d, r.high.x, r.high.z);
  field::Unmasked<F> sum = a, difference = b;
  f.cmov(sum, c, high);
  f.cmov(difference, d, high);
  typename F::Element aa, bb;
  f.sqr(aa, sum);
  f.sqr(bb, difference);
  field::Uncarried<F> da, cb, multiple;
  f.mul(da, d, a);
  f.sub(e, aa, bb);
  f.mul(cb, c, b);
  field::mul_constant(f, multiple, e, a24);
  f.mul(r.low.x, aa, bb);
  f.add(c, da, cb);
  f.sub(d, da, cb);
  f.add(a, aa, multiple);
  f.sqr(d, d);
  f.sqr(r.high.x, c);
  f.mul(r.low.z, e, a);
  f.mul(r.high.z, d, u);
}

}  // namespace manymod::ecc::ladder
