// SPDX-License-Identifier: Apache-2.0
// Points in Jacobian coordinates in place, by the formulas whose multiplications Giorgi, Izard and Tisserand
// count: add-1998-cmo-2 (12M + 4S = 16) and dbl-1998-cmo-2 (3M + 6S = 9, with a = -3; one more with any a) of
// the Explicit-Formulas Database. Sums take 7 and 13 additions, here one less where a = -3 is used.
//
// The order of the steps lets results replace operands: an addition has 3 numbers beside P and Q, a doubling
// 2, and multiplications one for their sums. (The paper: 2 and 3, of unprinted formulas.)
//
// Exceptions. A doubling has none. An addition is right where neither point is at infinity and P != Q; in
// every other case, and rightly for P = -Q, its result has Z = 0. From then on Z is 0 in all sums and
// doubles.
//
// Timing: variable-time, for public points and scalars.
#pragma once

#include <cstdint>

#include "core/portable.hpp"
#include "ecc/giorgi/job.hpp"
#include "ecc/giorgi/numbers.cuda.hpp"

namespace manymod::ecc::giorgi {

/// x = X / Z^2, y = Y / Z^3; infinity has Z = 0.
template <class Numbers>
struct Point {
  typename Numbers::Element x, y, z;
};

/// What an addition found.
enum class Sum { computed, equal_operands };

/// Arithmetic on a curve y^2 = x^3 + a x + b, with the intermediate values that all operations share.
template <class Numbers>
class Curve {
  using Element = typename Numbers::Element;

 public:
  /// Numbers 0 to kNumbers - 1 of a thread belong to this object.
  static constexpr unsigned kNumbers = 3;

  MM_DEVICE Curve(const PointJob& job, const BlockMemory& memory)
      : f_(job, memory),
        a_(f_.common_number()),
        t_{f_.number(0), f_.number(1), f_.number(2)},
        a_is_minus_three_(job.a_is_minus_three) {
    f_.from_words(t_[1], constant_of(job, 1), t_[0]);
    f_.copy(a_, t_[1]);  // where threads share it, they write nothing else
  }

  /// Storage of a point: three numbers from `first` on.
  [[nodiscard]] MM_DEVICE Point<Numbers> point(unsigned first) const {
    return {f_.number(first), f_.number(first + 1), f_.number(first + 2)};
  }

  MM_DEVICE void load(Point<Numbers>& r, const PointJob& job, const std::uint32_t* points,
                      std::uint32_t item) {
    f_.from_words(r.x, coordinate_of(job, points, 0, item), t_[0]);
    f_.from_words(r.y, coordinate_of(job, points, 1, item), t_[0]);
    f_.from_words(r.z, coordinate_of(job, points, 2, item), t_[0]);
  }
  MM_DEVICE void store(const PointJob& job, std::uint32_t item, const Point<Numbers>& p) {
    f_.to_words(result_of(job, 0, item), p.x, t_[0]);
    f_.to_words(result_of(job, 1, item), p.y, t_[0]);
    f_.to_words(result_of(job, 2, item), p.z, t_[0]);
  }

  /// a = a b.
  MM_DEVICE void multiply(Element& a, const Element& b) { f_.mul(a, a, b); }

  /// r = infinity: (1, 1, 0).
  MM_DEVICE void infinity(Point<Numbers>& r) {
    f_.one(r.x, t_[0]);
    f_.copy(r.y, r.x);
    f_.sub(r.z, r.x, r.x);
  }
  /// r = p, or -p.
  MM_DEVICE void copy(Point<Numbers>& r, const Point<Numbers>& p, bool negative) {
    f_.copy(r.x, p.x);
    f_.copy(r.y, p.y);
    f_.copy(r.z, p.z);
    if (negative) {
      f_.sub(t_[0], r.y, r.y);
      f_.sub(r.y, t_[0], r.y);
    }
  }
  [[nodiscard]] MM_DEVICE bool is_infinity(const Point<Numbers>& p) const { return f_.is_zero(p.z); }

  /// p = 2 p.
  MM_DEVICE void twice(Point<Numbers>& p) {
    f_.sqr(t_[1], p.z);
    f_.sqr(t_[1], t_[1]);  // Z^4
    f_.mul(p.z, p.z, p.y);
    f_.add(p.z, p.z, p.z);  // Z3 = 2 Y Z
    f_.sqr(p.y, p.y);       // Y^2
    f_.sqr(t_[0], p.x);     // X^2
    if (a_is_minus_three_) {
      f_.sub(t_[0], t_[0], t_[1]);  // X^2 - Z^4
      f_.add(t_[1], t_[0], t_[0]);
    } else {
      f_.mul(t_[1], t_[1], a_);
      f_.add(t_[1], t_[1], t_[0]);
      f_.add(t_[1], t_[1], t_[0]);
    }
    f_.add(t_[1], t_[1], t_[0]);  // M = 3 X^2 + a Z^4
    f_.mul(p.x, p.x, p.y);
    f_.add(p.x, p.x, p.x);
    f_.add(p.x, p.x, p.x);  // S = 4 X Y^2
    f_.sqr(p.y, p.y);
    f_.add(p.y, p.y, p.y);
    f_.add(p.y, p.y, p.y);
    f_.add(p.y, p.y, p.y);  // 8 Y^4
    f_.sqr(t_[0], t_[1]);
    f_.sub(t_[0], t_[0], p.x);
    f_.sub(t_[0], t_[0], p.x);  // X3 = M^2 - 2 S
    f_.sub(p.x, p.x, t_[0]);
    f_.mul(p.x, p.x, t_[1]);
    f_.sub(p.y, p.x, p.y);  // Y3 = M (S - X3) - 8 Y^4
    f_.copy(p.x, t_[0]);
  }

  /// p = p + q, or p - q if `negative`, for points other than infinity.
  ///
  /// With `exceptions`, equal operands are looked for: p is left as it was, in other coordinates, and
  /// equal_operands is returned. Without it, Z = 0 results from them.
  MM_DEVICE Sum add(Point<Numbers>& p, const Point<Numbers>& q, bool negative, bool exceptions) {
    f_.sqr(t_[0], q.z);
    f_.mul(p.x, p.x, t_[0]);  // U1 = X1 Z2^2
    f_.mul(t_[0], t_[0], q.z);
    f_.mul(p.y, p.y, t_[0]);  // S1 = Y1 Z2^3
    f_.sqr(t_[0], p.z);
    f_.mul(t_[1], q.x, t_[0]);  // U2 = X2 Z1^2
    f_.mul(t_[0], t_[0], p.z);
    f_.mul(t_[0], t_[0], q.y);  // S2 = Y2 Z1^3
    f_.mul(p.z, p.z, q.z);      // p = (U1, S1, Z1 Z2)
    f_.sub(t_[1], t_[1], p.x);  // H = U2 - U1
    if (negative) {
      f_.add(t_[0], t_[0], p.y);  // -R, since Y2 has the other sign
    } else {
      f_.sub(t_[0], t_[0], p.y);  // R = S2 - S1
    }
    if (exceptions && f_.is_zero(t_[1]) && f_.is_zero(t_[0])) return Sum::equal_operands;
    f_.mul(p.z, p.z, t_[1]);      // Z3 = Z1 Z2 H
    f_.sqr(t_[2], t_[1]);         // H^2
    f_.mul(p.x, p.x, t_[2]);      // V = U1 H^2
    f_.mul(t_[1], t_[1], t_[2]);  // H^3
    f_.mul(p.y, p.y, t_[1]);      // S1 H^3
    f_.sqr(t_[2], t_[0]);
    f_.sub(t_[2], t_[2], t_[1]);
    f_.sub(t_[2], t_[2], p.x);
    f_.sub(t_[2], t_[2], p.x);  // X3 = R^2 - H^3 - 2 V
    if (negative) {
      f_.sub(p.x, t_[2], p.x);
    } else {
      f_.sub(p.x, p.x, t_[2]);
    }
    f_.mul(t_[0], t_[0], p.x);
    f_.sub(p.y, t_[0], p.y);  // Y3 = R (V - X3) - S1 H^3
    f_.copy(p.x, t_[2]);
    return Sum::computed;
  }

  /// sum = sum + q or sum - q, where `empty` says that sum is infinity whatever it holds.
  ///
  /// With `exceptions`, points at infinity are looked for and equal operands are as for add.
  MM_DEVICE Sum accumulate(Point<Numbers>& sum, bool& empty, const Point<Numbers>& q, bool negative,
                           bool exceptions) {
    if (exceptions && is_infinity(q)) return Sum::computed;
    if (empty || (exceptions && is_infinity(sum))) {
      copy(sum, q, negative);
      empty = false;
      return Sum::computed;
    }
    return add(sum, q, negative, exceptions);
  }

 private:
  Numbers f_;
  Element a_;
  Element t_[3];
  bool a_is_minus_three_;
};

}  // namespace manymod::ecc::giorgi
