// SPDX-License-Identifier: Apache-2.0
// One equation for many multiples of the generator: it holds for right ones, on every engine of the
// processor, and for none with a wrong one among them.
#include "ecc/schemes/multiples_check.hpp"

#include <gtest/gtest.h>

#include "ecc/schemes/block.hpp"
#include "ecc/variants.hpp"

namespace manymod::test {
namespace {

/// Enough for the widest engine.
constexpr std::size_t kCount = 130;

/// Multiples by small and by large numbers, 1 and n - 1 among them.
struct Work {
  explicit Work(const ecc::PointEngine& engine)
      : curve(engine.curve()),
        order(ecc::Order::of(curve)),
        k(kCount, order->limbs()),
        points(kCount, curve.limbs()) {
    for (std::size_t i = 0; i < kCount; ++i) {
      k[i][0] = i / 2 + 1;
      if (i % 2 == 1) limbs::negate_mod(k[i], k[i], curve.n);
    }
    engine.multiply_base(points.results(curve), k.view(), {0, kCount}, TimingClass::secret, {});
  }

  [[nodiscard]] bool confirmed(const ecc::PointEngine& engine, std::size_t count = kCount) const {
    return ecc::confirms_multiples(engine, *order, k.view(), points.rows(curve), count, {});
  }

  const ecc::Curve& curve;
  std::unique_ptr<const ecc::Order> order;
  ecc::Rows k;
  ecc::Points points;
};

template <class Check>
void for_engines(const Check& check) {
  for (const ecc::Variant& variant : ecc::variants()) {
    if (variant.backend != Backend::cpu || !variant.runs_here()) continue;
    for (const ecc::CurveId id : {ecc::CurveId::p256, ecc::CurveId::secp256k1, ecc::CurveId::p521,
                                  ecc::CurveId::ed25519, ecc::CurveId::ed448}) {
      const ecc::Curve& curve = ecc::named_curve(id);
      if (!variant.offers(curve)) continue;
      SCOPED_TRACE(std::string(variant.name) + " " + curve.name);
      check(*variant.make(curve, {}));
    }
  }
}

TEST(MultiplesCheck, ConfirmsRightOnes) {
  for_engines([](const ecc::PointEngine& engine) {
    const Work work(engine);
    EXPECT_TRUE(work.confirmed(engine));
    // Few are left to their caller.
    EXPECT_FALSE(work.confirmed(engine, 5));
  });
}

TEST(MultiplesCheck, FindsAWrongOne) {
  for_engines([](const ecc::PointEngine& engine) {
    for (const std::size_t bad : {std::size_t{0}, std::size_t{64}, kCount - 1}) {
      Work work(engine);
      work.k[bad][0] ^= 2;
      EXPECT_FALSE(work.confirmed(engine));
    }
    // The opposite point.
    Work work(engine);
    const std::span<Limb> turned = work.curve.form == MM_ECC_EDWARDS ? work.points.x[77] : work.points.y[77];
    limbs::negate_mod(turned, turned, work.curve.p);
    EXPECT_FALSE(work.confirmed(engine));
  });
}

/// (-x, -y) is the sum of (x, y) and the point of order 2, which even factors would let pass.
TEST(MultiplesCheck, FindsPointsOfSmallOrder) {
  for_engines([](const ecc::PointEngine& engine) {
    if (engine.curve().form != MM_ECC_EDWARDS) return;
    Work work(engine);
    limbs::negate_mod(work.points.x[9], work.points.x[9], work.curve.p);
    limbs::negate_mod(work.points.y[9], work.points.y[9], work.curve.p);
    for (unsigned i = 0; i < 4; ++i) EXPECT_FALSE(work.confirmed(engine));
  });
}

TEST(MultiplesCheck, WithParity) {
  const ecc::Curve& curve = ecc::named_curve(ecc::CurveId::p256);
  for (const Limb odd : {Limb{0}, Limb{1}}) {
    std::vector<Limb> r(curve.limbs()), sum(curve.limbs());
    ecc::with_parity(r, curve.y, odd, curve.p);
    EXPECT_EQ(r[0] & 1, odd);
    limbs::add_mod(sum, r, curve.y, curve.p);
    EXPECT_TRUE(r == curve.y || limbs::is_zero(sum) == 1);
  }
}

}  // namespace
}  // namespace manymod::test
