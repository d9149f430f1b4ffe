// SPDX-License-Identifier: Apache-2.0
// The group of a complete twisted Edwards curve: see weierstrass.hpp.
#pragma once

#include "ecc/curve.hpp"
#include "ecc/formulas/edwards.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/scalar64/powers.hpp"
#include "field/scalar.hpp"

namespace manymod::ecc::scalar64 {

template <std::size_t kLimbs>
class EdwardsGroup {
 public:
  using Field = field::ScalarField<kLimbs>;
  using Element = typename Field::Element;
  using Point = edwards::Extended<Field>;
  /// An affine point with T.
  struct Operand {
    Point point;
  };

  explicit EdwardsGroup(const Curve& curve)
      : field_(manymod::scalar64::fastest_kernels(), curve.p), roots_(field_, curve.p) {
    field_.from_limbs(coefficients_.a, curve.a);
    field_.from_limbs(coefficients_.d, curve.b);
    coefficients_.kind = kind_of_a();
  }

  [[nodiscard]] const Field& field() const { return field_; }

  void set_neutral(Point& r) const { edwards::set_neutral(field_, r); }
  void load(Point& r, const PointRows& points, std::size_t item, std::size_t limbs) const {
    Element x, y;
    field_.from_limbs(x, {points.x[item], limbs});
    field_.from_limbs(y, {points.y[item], limbs});
    edwards::set_affine(field_, r, x, y);
  }

  [[gnu::noinline]] void add(Point& r, const Point& p, const Point& q) const {
    edwards::add_general(field_, r, p, q, coefficients_);
  }
  void add(Point& r, const Point& p, const Operand& q) const { add(r, p, q.point); }
  [[gnu::noinline]] void twice(Point& r, const Point& p) const {
    edwards::double_general(field_, r, p, coefficients_);
  }
  void negate_where(Point& r, Limb mask) const {
    Point negative;
    edwards::negate(field_, negative, r);
    cmov(r, negative, mask);
  }
  void negate_where(Operand& r, Limb mask) const { negate_where(r.point, mask); }
  void cmov(Point& r, const Point& p, Limb mask) const { edwards::select(field_, r, p, mask); }
  void cmov(Operand& r, const Operand& p, Limb mask) const { cmov(r.point, p.point, mask); }
  void prepare(Operand& r, const Element& x, const Element& y) const {
    edwards::set_affine(field_, r.point, x, y);
  }

  static const Element& denominator(const Point& p) { return p.z; }

  [[nodiscard]] Limb contains(const Element& x, const Element& y) const {
    return edwards::on_curve(field_, x, y, coefficients_);
  }
  void other_squared(Element& numerator, Element& denominator, const Element& y) const {
    edwards::x_squared(field_, numerator, denominator, y, coefficients_);
  }
  [[nodiscard]] const SquareRoots<Field>& roots() const { return roots_; }

 private:
  using Kind = typename edwards::Coefficients<Field>::Kind;

  Field field_;
  SquareRoots<Field> roots_;
  edwards::Coefficients<Field> coefficients_;

  Kind kind_of_a() const {
    Element one, sum;
    field_.one(one);
    if (field_.equal(coefficients_.a, one) != 0) return Kind::one;
    field_.add(sum, coefficients_.a, one);
    field_.template normalize_weak<2>(sum, sum);
    return field_.is_zero(sum) != 0 ? Kind::minus_one : Kind::other;
  }
};

}  // namespace manymod::ecc::scalar64
