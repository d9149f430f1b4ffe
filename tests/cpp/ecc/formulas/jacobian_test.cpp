// SPDX-License-Identifier: Apache-2.0
// Jacobian and affine coordinates on all points of small curves, against the chord-and-tangent law in plain
// numbers.
#include "ecc/formulas/jacobian.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "ecc/formulas/affine.hpp"
#include "field/scalar.hpp"

namespace manymod::test {
namespace {

using namespace ecc::jacobian;
using Field = field::ScalarField<1>;
using Affine = std::optional<std::pair<Limb, Limb>>;

/// y^2 = x^3 + a x + b modulo a small prime.
struct SmallCurve {
  Limb p, a, b;

  [[nodiscard]] Limb inverse(Limb x) const {
    Limb r = 1;
    for (Limb i = 0; i < p - 2; ++i) r = r * x % p;
    return r;
  }
  [[nodiscard]] Affine add(const Affine& s, const Affine& t) const {
    if (!s || !t) return s ? s : t;
    const auto [x1, y1] = *s;
    const auto [x2, y2] = *t;
    if (x1 == x2 && (y1 + y2) % p == 0) return std::nullopt;
    const Limb slope = x1 == x2 ? (3 * x1 * x1 + a) % p * inverse(2 * y1 % p) % p
                                : (y2 + p - y1) % p * inverse((x2 + p - x1) % p) % p;
    const Limb x3 = (slope * slope + 2 * p - x1 - x2) % p;
    return std::pair(x3, (slope * ((x1 + p - x3) % p) + p - y1) % p);
  }
  [[nodiscard]] std::vector<Affine> points() const {
    std::vector<Affine> all = {std::nullopt};
    for (Limb x = 0; x < p; ++x) {
      for (Limb y = 0; y < p; ++y) {
        if (y * y % p == (x * x * x + a * x + b) % p) all.emplace_back(std::pair(x, y));
      }
    }
    return all;
  }
};

template <CoefficientA kA>
class Points {
 public:
  explicit Points(const SmallCurve& curve)
      : curve_(curve), f_(scalar64::generic_kernels(), std::span(&curve_.p, 1)) {
    if constexpr (kA == CoefficientA::any) coefficient_.a = element(curve.a);
  }

  /// The point with Z = z; for infinity any X and Y.
  [[nodiscard]] Point<Field> scaled(const Affine& point, Limb z) const {
    if (!point) return {element(z * z % curve_.p), element(z * z % curve_.p * z % curve_.p), element(0)};
    return {element(point->first * z % curve_.p * z % curve_.p),
            element(point->second * z % curve_.p * z % curve_.p * z % curve_.p), element(z)};
  }
  [[nodiscard]] AffinePoint<Field> unreduced(const Affine& point) const {
    AffinePoint<Field> r = {element(point->first), element(point->second)};
    // The largest magnitude that it may have.
    f_.sub(r.y, r.y, element(0));
    return r;
  }
  [[nodiscard]] Affine plain(const Point<Field>& point) const {
    Field::Element z;
    if (f_.inverse(z, point.z) == 0) return std::nullopt;
    AffinePoint<Field> affine;
    to_affine(f_, affine, point, z);
    return std::pair(number(affine.x), number(affine.y));
  }

  void check_all() const {
    const auto points = curve_.points();
    for (const Limb z : {Limb{1}, Limb{3}, curve_.p - 1}) {
      for (const Affine& s : points) {
        Point<Field> r = scaled(s, z);
        twice(f_, coefficient_, r, r);
        EXPECT_EQ(plain(r), curve_.add(s, s));
        for (const Affine& t : points) check_sum(s, t, z);
      }
    }
  }

 private:
  void check_sum(const Affine& s, const Affine& t, Limb z) const {
    const Affine expected = curve_.add(s, t);
    // Exceptions have Z = 0.
    const bool exception = !s || !t || s->first == t->first;
    Point<Field> r = scaled(s, z);
    add(f_, r, r, scaled(t, 2));
    EXPECT_EQ(plain(r), exception ? std::nullopt : expected);
    r = scaled(s, z);
    add_complete(f_, coefficient_, r, r, scaled(t, 2));
    EXPECT_EQ(plain(r), expected);
    EXPECT_EQ(equal(f_, scaled(s, z), scaled(t, 2)) != 0, s == t);
    if (!t) return;
    if (s) check_affine(*s, *t, expected);
    r = scaled(s, z);
    add_complete(f_, coefficient_, r, r, unreduced(t));
    EXPECT_EQ(plain(r), expected);
    r = scaled(s, z);
    add_mixed(f_, r, r, unreduced(t));
    EXPECT_EQ(plain(r), exception ? std::nullopt : expected);
  }

  void check_affine(const std::pair<Limb, Limb>& s, const std::pair<Limb, Limb>& t,
                    const Affine& expected) const {
    if (!expected) return;
    AffinePoint<Field> r = {element(s.first), element(s.second)};
    const AffinePoint<Field> q = {element(t.first), element(t.second)};
    const Limb denominator = s == t ? 2 * s.second : t.first + curve_.p - s.first;
    const Field::Element inverse = element(curve_.inverse(denominator % curve_.p));
    if (s == t) {
      ecc::affine::twice(f_, coefficient_, r, r, inverse);
    } else {
      ecc::affine::add(f_, r, r, q, inverse);
    }
    EXPECT_EQ(std::pair(number(r.x), number(r.y)), *expected);
  }

  [[nodiscard]] Field::Element element(Limb x) const {
    Field::Element r;
    f_.from_limbs(r, std::span(&x, 1));
    return r;
  }
  [[nodiscard]] Limb number(const Field::Element& x) const {
    Limb r = 0;
    f_.to_limbs(std::span(&r, 1), x);
    return r;
  }

  SmallCurve curve_;
  Field f_;
  Coefficient<Field, kA> coefficient_;
};

TEST(Jacobian, AllPointsOfSmallCurves) {
  // With points of order two and three, and curves of prime order.
  for (const Limb p : {Limb{11}, Limb{13}, Limb{23}}) {
    for (const Limb b : {Limb{1}, Limb{3}, Limb{7}}) {
      Points<CoefficientA::zero>({p, 0, b}).check_all();
      Points<CoefficientA::minus_three>({p, p - 3, b}).check_all();
      Points<CoefficientA::any>({p, 5, b}).check_all();
    }
  }
}

}  // namespace
}  // namespace manymod::test
