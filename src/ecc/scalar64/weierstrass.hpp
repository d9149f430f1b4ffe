// SPDX-License-Identifier: Apache-2.0
// The group of a short Weierstrass curve, one point at a time, as the algorithms of this folder take it.
//
// A group has these types and functions; edwards.hpp is another.
//   Field, Element           field::ScalarField
//   Point                    a point of the group, with denominator(point) as its Z
//   Operand                  an affine point prepared for additions; never infinity
//   set_neutral, load        neutral element; affine points of a call
//   add, twice, negate_where, cmov
//   prepare                  an operand from affine coordinates
//   contains, other_squared  of affine coordinates
//   roots                    square roots of the field
// Coordinates have magnitude 1. Timing: constant-time.
#pragma once

#include "ecc/curve.hpp"
#include "ecc/formulas/complete.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/scalar64/powers.hpp"
#include "ecc/scalar64/torsion.hpp"
#include "field/scalar.hpp"

namespace manymod::ecc::scalar64 {

template <std::size_t kLimbs>
class WeierstrassGroup {
 public:
  using Field = field::ScalarField<kLimbs>;
  using Element = typename Field::Element;
  using Point = ProjectivePoint<Field>;
  using Operand = AffinePoint<Field>;

  explicit WeierstrassGroup(const Curve& curve)
      : field_(manymod::scalar64::fastest_kernels(), curve.p), roots_(field_, curve.p) {
    field_.from_limbs(coefficients_.a, curve.a);
    field_.from_limbs(coefficients_.b, curve.b);
    complete::detail::triple(field_, coefficients_.b3, coefficients_.b);
    field_.template normalize_weak<4>(coefficients_.b3, coefficients_.b3);
    kind_ = kind_of_a();
    has_order_two_ = has_order_two_var(field_, coefficients_.a, coefficients_.b, curve.p);
  }

  [[nodiscard]] const Field& field() const { return field_; }

  void set_neutral(Point& r) const {
    field_.zero(r.x);
    field_.one(r.y);
    field_.zero(r.z);
  }
  void load(Point& r, const PointRows& points, std::size_t item, std::size_t limbs) const {
    field_.from_limbs(r.x, {points.x[item], limbs});
    field_.from_limbs(r.y, {points.y[item], limbs});
    field_.one(r.z);
    if (points.infinity == nullptr) return;
    Point neutral;
    set_neutral(neutral);
    cmov(r, neutral, ~word::mask_from_bit(word::is_zero_bit(points.infinity[item])));
  }

  /// r = p + q. Aliasing: r may be an operand.
  [[gnu::noinline]] void add(Point& r, const Point& p, const Point& q) const {
    Point sum;
    dispatch([&]<CoefficientA kA> { complete::add<kA>(field_, coefficients_, sum, p, q); });
    if (has_order_two_) complete::mend_exception(field_, sum, p, q);
    r = sum;
  }
  [[gnu::noinline]] void add(Point& r, const Point& p, const Operand& q) const {
    Point sum;
    dispatch([&]<CoefficientA kA> { complete::add_affine<kA>(field_, coefficients_, sum, p, q); });
    if (has_order_two_) {
      Point projective{q.x, q.y, {}};
      field_.one(projective.z);
      complete::mend_exception(field_, sum, p, projective);
    }
    r = sum;
  }
  /// r = 2 p. Aliasing: r may be p.
  [[gnu::noinline]] void twice(Point& r, const Point& p) const {
    dispatch([&]<CoefficientA kA> { complete::twice<kA>(field_, coefficients_, r, p); });
  }
  /// r = -r if `mask`.
  template <class P>
  void negate_where(P& r, Limb mask) const {
    Element negative;
    field_.neg(negative, r.y);
    field_.template normalize_weak<2>(negative, negative);
    field_.cmov(r.y, negative, mask);
  }
  void cmov(Point& r, const Point& p, Limb mask) const { complete::detail::cmov(field_, r, p, mask); }
  void cmov(Operand& r, const Operand& p, Limb mask) const {
    field_.cmov(r.x, p.x, mask);
    field_.cmov(r.y, p.y, mask);
  }
  void prepare(Operand& r, const Element& x, const Element& y) const {
    r.x = x;
    r.y = y;
  }

  static const Element& denominator(const Point& p) { return p.z; }

  [[nodiscard]] Limb contains(const Element& x, const Element& y) const {
    Element yy, right;
    field_.sqr(yy, y);
    right_side(right, x);
    return field_.equal(yy, right);
  }
  /// The square of the other coordinate of points with this x, as a fraction; denominator != 0.
  void other_squared(Element& numerator, Element& denominator, const Element& x) const {
    right_side(numerator, x);
    field_.one(denominator);
  }
  [[nodiscard]] const SquareRoots<Field>& roots() const { return roots_; }

 private:
  Field field_;
  SquareRoots<Field> roots_;
  WeierstrassCoefficients<Field> coefficients_;
  CoefficientA kind_ = CoefficientA::any;
  bool has_order_two_ = false;

  CoefficientA kind_of_a() const {
    if (field_.is_zero(coefficients_.a) != 0) return CoefficientA::zero;
    Element sum, one;
    field_.one(one);
    field_.add(sum, coefficients_.a, one);
    for (int i = 0; i < 2; ++i) field_.add(sum, sum, one);
    field_.template normalize_weak<4>(sum, sum);
    return field_.is_zero(sum) != 0 ? CoefficientA::minus_three : CoefficientA::any;
  }
  /// call<the curve's kind of a>()
  template <class Call>
  void dispatch(const Call& call) const {
    switch (kind_) {
      case CoefficientA::any:
        return call.template operator()<CoefficientA::any>();
      case CoefficientA::minus_three:
        return call.template operator()<CoefficientA::minus_three>();
      case CoefficientA::zero:
        return call.template operator()<CoefficientA::zero>();
    }
  }
  /// r = (x^2 + a) x + b.
  void right_side(Element& r, const Element& x) const {
    Element t;
    field_.sqr(t, x);
    field_.add(t, t, coefficients_.a);
    field_.mul(t, t, x);
    field_.add(t, t, coefficients_.b);
    field_.template normalize_weak<2>(r, t);
  }
};

}  // namespace manymod::ecc::scalar64
