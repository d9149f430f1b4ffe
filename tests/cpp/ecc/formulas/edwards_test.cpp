// SPDX-License-Identifier: Apache-2.0
// Formulas of twisted Edwards curves on every pair of points of small complete curves, against the affine
// addition law, on the scalar field: there are all doublings, opposite points and points of small order.
#include "ecc/formulas/edwards.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "field/scalar.hpp"
#include "support/kernel_sets.hpp"

namespace manymod::test {
namespace {

using ecc::edwards::WithT;
using F = field::ScalarField<1>;
using Element = F::Element;
using Extended = ecc::edwards::Extended<F>;
using Prepared = ecc::edwards::Prepared<F>;
using Cached = ecc::edwards::Cached<F>;
using PreparedOne = ecc::edwards::PreparedOne<F>;
using CachedOne = ecc::edwards::CachedOne<F>;
using Coefficients = ecc::edwards::Coefficients<F>;

struct SmallCurve {
  Limb p, a, d;
};

struct Affine {
  Limb x, y;
  friend bool operator==(const Affine&, const Affine&) = default;
};

class SmallEdwards : public testing::TestWithParam<SmallCurve> {
 protected:
  const SmallCurve& c = GetParam();
  const F f{*usable_kernel_sets()[0].kernels, std::span(&c.p, 1)};

  Limb inverse(Limb a) const {
    Limb r = 1;
    for (Limb i = 0; i < c.p - 2; ++i) r = r * a % c.p;
    return r;
  }
  /// Bernstein, Birkner, Joye, Lange, Peters 2008, section 6.
  Affine sum(const Affine& p, const Affine& q) const {
    const Limb product = c.d * p.x % c.p * q.x % c.p * p.y % c.p * q.y % c.p;
    const Limb x = (p.x * q.y + p.y * q.x) % c.p * inverse((1 + product) % c.p) % c.p;
    const Limb y =
        (p.y * q.y + (c.p - c.a) * (p.x * q.x % c.p)) % c.p * inverse((1 + c.p - product) % c.p) % c.p;
    return {x, y};
  }
  bool on_curve(const Affine& p) const {
    const Limb xx = p.x * p.x % c.p, yy = p.y * p.y % c.p;
    return (c.a * xx + yy) % c.p == (1 + c.d * (xx * yy % c.p)) % c.p;
  }
  std::vector<Affine> points() const {
    std::vector<Affine> all;
    for (Limb x = 0; x < c.p; ++x) {
      for (Limb y = 0; y < c.p; ++y) {
        if (on_curve({x, y})) all.push_back({x, y});
      }
    }
    return all;
  }

  Element element(Limb x) const {
    Element r;
    f.from_limbs(r, std::span(&x, 1));
    return r;
  }
  Limb number(const Element& a) const {
    Limb r = 0;
    f.to_limbs(std::span(&r, 1), a);
    return r;
  }
  Coefficients coefficients() const {
    using Kind = Coefficients::Kind;
    return {element(c.a), element(c.d),
            c.a == 1         ? Kind::one
            : c.a == c.p - 1 ? Kind::minus_one
                             : Kind::other};
  }
  /// With Z = z.
  Extended extended(const Affine& p, Limb z = 1) const {
    Extended r;
    ecc::edwards::set_affine(f, r, element(p.x), element(p.y));
    for (Element* coordinate : {&r.x, &r.y, &r.z, &r.t}) f.mul(*coordinate, *coordinate, element(z));
    return r;
  }
  /// Checks that T Z = X Y where T is said to be there.
  Affine affine(const Extended& p, bool with_t) const {
    const Limb z = number(p.z);
    EXPECT_NE(z, 0U);
    if (with_t) {
      EXPECT_EQ(number(p.t) * z % c.p, number(p.x) * number(p.y) % c.p);
    }
    return {number(p.x) * inverse(z) % c.p, number(p.y) * inverse(z) % c.p};
  }
  static Extended no_t(Extended p) {
    p.t = {};
    return p;
  }
  Limb any_z(std::size_t seed) const { return 1 + seed % (c.p - 1); }
  /// Checks the sums of point i and of each point or its negative as a PreparedPoint and as a CachedPoint,
  /// which is made with `factor`, d or 2 d.
  template <class PreparedPoint, class CachedPoint>
  void expect_sums(const std::vector<Affine>& all, std::size_t i, const Element& factor) const {
    const Extended p = extended(all[i], any_z(i));
    Extended r;
    for (std::size_t j = 0; j < all.size(); ++j) {
      const Affine negative{(c.p - all[j].x) % c.p, all[j].y};
      for (const bool minus : {false, true}) {
        const Affine expected = sum(all[i], minus ? negative : all[j]);
        PreparedPoint prepared;
        ecc::edwards::prepare(f, prepared, element(all[j].x), element(all[j].y), element(c.d));
        ecc::edwards::negate_where(f, prepared, minus ? ~Limb{0} : 0);
        ecc::edwards::add(f, r, p, prepared);
        EXPECT_EQ(affine(r, true), expected);
        CachedPoint cached;
        ecc::edwards::cache(f, cached, extended(all[j], any_z(i + 5 * j)), factor);
        ecc::edwards::negate_where(f, cached, minus ? ~Limb{0} : 0);
        r = p;
        ecc::edwards::add(f, r, r, cached);
        EXPECT_EQ(affine(r, true), expected);
        ecc::edwards::add<WithT::no>(f, r, p, cached);
        EXPECT_EQ(affine(r, false), expected);
      }
    }
  }
};

TEST_P(SmallEdwards, GeneralFormulas) {
  const Coefficients curve = coefficients();
  const auto all = points();
  ASSERT_GE(all.size(), 4U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Extended p = extended(all[i], any_z(i));
    Extended r;
    ecc::edwards::double_general(f, r, no_t(p), curve);
    EXPECT_EQ(affine(r, true), sum(all[i], all[i]));
    ecc::edwards::double_general<WithT::no>(f, r, p, curve);
    EXPECT_EQ(affine(r, false), sum(all[i], all[i]));
    ecc::edwards::negate(f, r, p);
    EXPECT_EQ(affine(r, true), (Affine{(c.p - all[i].x) % c.p, all[i].y}));
    for (std::size_t j = 0; j < all.size(); ++j) {
      const Extended q = extended(all[j], any_z(i + 3 * j));
      ecc::edwards::add_general(f, r, p, q, curve);
      EXPECT_EQ(affine(r, true), sum(all[i], all[j]));
      r = p;
      ecc::edwards::add_general<WithT::no>(f, r, r, q, curve);
      EXPECT_EQ(affine(r, false), sum(all[i], all[j]));
      EXPECT_EQ(ecc::edwards::equal(f, p, q) != 0, i == j);
    }
  }
}

class SmallEdwardsMinusOne : public SmallEdwards {};
class SmallEdwardsOne : public SmallEdwards {};

TEST_P(SmallEdwardsMinusOne, Formulas) {
  const auto all = points();
  const Element d2 = element(2 * c.d % c.p);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Extended p = extended(all[i], any_z(i));
    Extended r;
    ecc::edwards::double_point(f, r, no_t(p));
    EXPECT_EQ(affine(r, true), sum(all[i], all[i]));
    ecc::edwards::double_point<WithT::no>(f, r, p);
    EXPECT_EQ(affine(r, false), sum(all[i], all[i]));
    expect_sums<Prepared, Cached>(all, i, d2);
    Prepared neutral;
    ecc::edwards::set_neutral(f, neutral);
    ecc::edwards::add(f, r, p, neutral);
    EXPECT_EQ(affine(r, true), all[i]);
  }
}

TEST_P(SmallEdwardsOne, Formulas) {
  const auto all = points();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Extended p = extended(all[i], any_z(i));
    Extended r;
    ecc::edwards::double_point_one(f, r, no_t(p));
    EXPECT_EQ(affine(r, true), sum(all[i], all[i]));
    ecc::edwards::double_point_one<WithT::no>(f, r, p);
    EXPECT_EQ(affine(r, false), sum(all[i], all[i]));
    expect_sums<PreparedOne, CachedOne>(all, i, element(c.d));
  }
}

TEST_P(SmallEdwards, PointsOfTheCurve) {
  const Coefficients curve = coefficients();
  for (Limb y = 0; y < c.p; ++y) {
    Element numerator, denominator;
    ecc::edwards::x_squared(f, numerator, denominator, element(y), curve);
    ASSERT_NE(number(denominator), 0U);
    const Limb xx = number(numerator) * inverse(number(denominator)) % c.p;
    for (Limb x = 0; x < c.p; ++x) {
      const bool expected = on_curve({x, y});
      EXPECT_EQ(ecc::edwards::on_curve(f, element(x), element(y), curve) != 0, expected);
      EXPECT_EQ(xx == x * x % c.p, expected);
    }
  }
}

// a is a square and d is none.
constexpr SmallCurve kMinusOne[] = {{13, 12, 2}, {17, 16, 3}, {29, 28, 2}, {37, 36, 2}};
constexpr SmallCurve kOne[] = {{13, 1, 2}, {19, 1, 2}, {31, 1, 11}};

INSTANTIATE_TEST_SUITE_P(MinusOne, SmallEdwards, testing::ValuesIn(kMinusOne));
INSTANTIATE_TEST_SUITE_P(MinusOne, SmallEdwardsMinusOne, testing::ValuesIn(kMinusOne));
INSTANTIATE_TEST_SUITE_P(One, SmallEdwards, testing::ValuesIn(kOne));
INSTANTIATE_TEST_SUITE_P(One, SmallEdwardsOne, testing::ValuesIn(kOne));
INSTANTIATE_TEST_SUITE_P(Other, SmallEdwards, testing::Values(SmallCurve{23, 2, 5}, SmallCurve{29, 4, 3}));

}  // namespace
}  // namespace manymod::test
