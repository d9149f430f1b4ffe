// SPDX-License-Identifier: Apache-2.0
// Multiples by scalars of any value, against the textbook group laws: on tiny curves by every number of
// scalar_bytes bytes, on large ones by numbers around n and the largest; of points outside of the generator's
// group, too.
#include "ecc/schemes/multiples.hpp"

#include <gtest/gtest.h>

#include <random>

#include "ecc/plain_group.hpp"
#include "ecc/test_curves.hpp"
#include "ecc/variants.hpp"
#include "support/brief.hpp"

namespace manymod::test {
namespace {

using Limbs = std::vector<Limb>;

/// Scalars, points and the multiples that are expected.
struct Cases {
  std::vector<Limbs> scalars;
  std::vector<PlainPoint> points, expected;

  void add(const PlainGroup& group, const Limbs& k, const PlainPoint& p) {
    scalars.push_back(k);
    points.push_back(p);
    expected.push_back(group.multiply(k, p));
  }
};

class MultiplesOn {
 public:
  explicit MultiplesOn(const ecc::PointEngine& engine) : engine_(engine), curve_(engine.curve()) {}

  void expect(const Cases& cases) const {
    const std::size_t count = cases.scalars.size();
    ecc::Rows k = rows(cases.scalars);
    const ecc::Points p = points(cases.points);
    ecc::Points r(count, curve_.limbs());
    const ecc::Multiples multiples(engine_);
    multiples.of_points(r, k, {p.x.view(), p.y.view()}, {0, count}, {});
    for (std::size_t i = 0; i < count; ++i) expect_same(r, i, cases.expected[i], "multiple");
  }
  /// The sum of all cases.
  void expect_sum(const PlainGroup& group, const Cases& cases) const {
    PlainPoint total = group.neutral();
    for (const PlainPoint& term : cases.expected) total = group.add(total, term);
    ecc::Rows k = rows(cases.scalars);
    const ecc::Points p = points(cases.points);
    ecc::Points r(1, curve_.limbs());
    ecc::Multiples(engine_).sum(r, k, p.rows(curve_), {0, cases.scalars.size()}, {});
    expect_same(r, 0, total, "sum");
  }
  void expect_base(const PlainGroup& group, const std::vector<Limbs>& scalars) const {
    ecc::Rows k = rows(scalars);
    ecc::Points r(scalars.size(), curve_.limbs());
    ecc::Multiples(engine_).of_base(r, k, {0, scalars.size()}, {});
    for (std::size_t i = 0; i < scalars.size(); ++i)
      expect_same(r, i, group.multiply(scalars[i], group.generator()), "multiple of the generator");
  }

 private:
  const ecc::PointEngine& engine_;
  const ecc::Curve& curve_;

  [[nodiscard]] ecc::Rows rows(const std::vector<Limbs>& scalars) const {
    ecc::Rows k(scalars.size(), curve_.scalar_limbs());
    for (std::size_t i = 0; i < scalars.size(); ++i) std::ranges::copy(scalars[i], k[i].begin());
    return k;
  }
  [[nodiscard]] ecc::Points points(const std::vector<PlainPoint>& all) const {
    ecc::Points p(all.size(), curve_.limbs());
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::ranges::copy(all[i].x, p.x[i].begin());
      std::ranges::copy(all[i].y, p.y[i].begin());
      p.infinity[i] = all[i].infinite ? 1 : 0;
    }
    return p;
  }
  void expect_same(const ecc::Points& r, std::size_t i, const PlainPoint& expected, const char* what) const {
    const bool same = std::ranges::equal(r.x[i], expected.x) && std::ranges::equal(r.y[i], expected.y) &&
                      (r.infinity[i] != 0) == expected.infinite;
    EXPECT_TRUE(same) << what << " of item " << i << " by " << engine_.variant();
  }
};

/// Calls visit(engine) for every engine of the processor that has the curve.
template <class Visit>
void for_engines(const ecc::Curve& curve, const Visit& visit) {
  for (const ecc::Variant& variant : ecc::variants()) {
    if (variant.backend == Backend::cpu && variant.offers(curve) && variant.runs_here())
      visit(*variant.make(curve, {}));
  }
}

/// Three points of a tiny curve, spread over all of them.
std::vector<PlainPoint> some_points(const PlainGroup& group) {
  std::vector<PlainPoint> all, some;
  for (Limb given = 0; given < group.curve().p[0]; ++given) {
    for (const bool odd : {false, true}) {
      if (auto point = group.lift(Limbs{given}, odd)) all.push_back(std::move(*point));
    }
  }
  const std::size_t step = all.size() / 3 + 1;
  for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

TEST(EccMultiples, ExistForEveryScalarOnTinyCurves) {
  for (const TestCurve& test : tiny_curves()) {
    SCOPED_TRACE(test.description);
    const PlainGroup group(test.curve);
    Cases all;
    for (const PlainPoint& point : some_points(group)) {
      PlainPoint multiple = group.neutral();
      for (Limb k = 0; k < (kBriefTests ? 64 : 256); ++k) {
        all.scalars.push_back({k});
        all.points.push_back(point);
        all.expected.push_back(multiple);
        multiple = group.add(multiple, point);
      }
    }
    for_engines(test.curve, [&](const ecc::PointEngine& engine) {
      const MultiplesOn multiples(engine);
      multiples.expect(all);
      multiples.expect_sum(group, all);
    });
  }
}

/// 0, 1, n - 1, n, n + 1, 2 n if it fits, the largest number of scalar_bytes bytes, and random ones.
std::vector<Limbs> edge_scalars(const ecc::Curve& curve, std::mt19937_64& random) {
  const std::size_t bits = 8 * curve.scalar_bytes();
  Limbs zero(curve.scalar_limbs()), one = zero;
  one[0] = 1;
  Limbs largest(curve.scalar_limbs(), ~Limb{0});
  limbs::truncate_bits(largest, bits);
  std::vector<Limbs> scalars{zero, one, curve.n, curve.n, curve.n, largest};
  limbs::sub(scalars[3], curve.n, one);
  limbs::add(scalars[4], curve.n, one);
  if (curve.order_bits < bits) {
    scalars.push_back(curve.n);
    limbs::shift_left(scalars.back(), scalars.back(), 1);
  }
  for (int i = 0; i < 2; ++i) {
    Limbs k(curve.scalar_limbs());
    for (Limb& limb : k) limb = random();
    limbs::truncate_bits(k, bits);
    scalars.push_back(k);
  }
  return scalars;
}

/// The generator, points of the curve, and their parts of small order.
std::vector<PlainPoint> points_of(const PlainGroup& group, std::mt19937_64& random) {
  const ecc::Curve& curve = group.curve();
  std::vector<PlainPoint> points{group.generator()};
  while (points.size() < 4) {
    Limbs given(curve.limbs());
    for (Limb& limb : given) limb = random();
    limbs::truncate_bits(given, curve.field_bits - 1);
    const auto point = group.lift(given, false);
    if (!point) continue;
    points.push_back(*point);
    const PlainPoint small = group.multiply(curve.n, *point);
    if (!small.infinite) points.push_back(small);
  }
  return points;
}

void check_edges(const ecc::Curve& curve) {
  std::mt19937_64 random(2);
  const PlainGroup group(curve);
  const std::vector<Limbs> scalars = edge_scalars(curve, random);
  const std::vector<PlainPoint> points = points_of(group, random);
  Cases cases;
  for (std::size_t i = 0; i < scalars.size(); ++i)
    cases.add(group, scalars[i], points[(i + 1) % points.size()]);
  for_engines(curve, [&](const ecc::PointEngine& engine) {
    const MultiplesOn multiples(engine);
    multiples.expect(cases);
    multiples.expect_sum(group, cases);
    if (curve.form == MM_ECC_WEIERSTRASS) multiples.expect_base(group, scalars);
  });
}

TEST(EccMultiples, ExistForScalarsOfTheOrderAndMore) {
  for (const char* name : {"P-256", "BLS12-381", "Ed25519", "Ed448"}) {
    SCOPED_TRACE(name);
    check_edges(*ecc::find_curve(name));
  }
  // The shortest of them: cofactor 1272.
  const TestCurve& supersingular = supersingular_curves().back();
  SCOPED_TRACE(supersingular.description);
  check_edges(supersingular.curve);
}

}  // namespace
}  // namespace manymod::test
