// SPDX-License-Identifier: Apache-2.0
// manymod/device/points.cuh on the host, against the textbook laws (plain_group.hpp).
#include "manymod/device/points.cuh"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "ecc/plain_group.hpp"
#include "repr/limbs.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;

template <class DeviceCurve, CurveId kIdOfCurve>
struct Named {
  using Group = DeviceCurve;
  static constexpr CurveId kId = kIdOfCurve;
};

template <class Curve>
class DevicePoints : public testing::Test {
 protected:
  using Points = typename Curve::Group;
  using Coordinates = typename Points::Field;
  using Element = typename Coordinates::Element;
  using Affine = typename Points::Affine;
  using Jacobian = typename Points::Jacobian;

  const PlainGroup plain_{ecc::named_curve(Curve::kId)};
  const ecc::Curve& curve_ = plain_.curve();
  std::mt19937_64 random_{5};

  static Affine from_plain(const PlainPoint& p) {
    return {Coordinates::load(p.x.data()), Coordinates::load(p.y.data())};
  }
  /// With a random Z.
  Jacobian jacobian_from_plain(const PlainPoint& p) {
    const Element z = random_element(), zz = Coordinates::sqr(z);
    if (p.infinite) return {Coordinates::mul(zz, z), zz, Coordinates::zero()};
    const Affine a = from_plain(p);
    return {Coordinates::mul(a.x, zz), Coordinates::mul(a.y, Coordinates::mul(zz, z)), z};
  }
  PlainPoint to_plain(const Affine& p) const {
    PlainPoint r = plain_.neutral();
    r.infinite = false;
    Coordinates::store(r.x.data(), p.x);
    Coordinates::store(r.y.data(), p.y);
    return r;
  }
  PlainPoint to_plain(const Jacobian& p) const {
    return Points::is_infinity(p) ? plain_.neutral() : to_plain(Points::to_affine(p));
  }

  std::vector<Limb> random_number(std::size_t limbs, std::size_t bits) {
    std::vector<Limb> r(limbs);
    for (Limb& limb : r) limb = random_();
    limbs::truncate_bits(r, bits);
    return r;
  }
  Element random_element() {
    return Coordinates::load(random_number(Coordinates::kLimbs, curve_.field_bits).data());
  }
  std::vector<Limb> random_scalar() { return random_number(curve_.n.size(), curve_.order_bits - 1); }

  static std::vector<std::uint32_t> words(const std::vector<Limb>& number) {
    std::vector<std::uint32_t> r(Points::kOrderWords);
    for (std::size_t j = 0; j < r.size(); ++j) {
      r[j] = static_cast<std::uint32_t>(number[j / 2] >> (32 * (j % 2)));
    }
    return r;
  }
  [[nodiscard]] std::vector<Limb> small(Limb value, bool from_order = false) const {
    std::vector<Limb> r(curve_.n.size());
    r[0] = value;
    Limb borrow = 0;
    for (std::size_t i = 0; from_order && i < r.size(); ++i) {
      r[i] = word::sub_borrow(curve_.n[i], r[i], borrow);
    }
    return r;
  }

  /// Infinity, points whose sums and doubles are among them, and their opposites.
  std::vector<PlainPoint> some_points() {
    const PlainPoint g = plain_.generator();
    std::vector<PlainPoint> r{plain_.neutral(), g, plain_.add(g, g), plain_.multiply(random_scalar(), g)};
    for (std::size_t i = 1; i < 4; ++i) r.push_back(plain_.negate(r[i]));
    return r;
  }
};

using Curves = testing::Types<Named<device::P256, CurveId::p256>, Named<device::P384, CurveId::p384>,
                              Named<device::P521, CurveId::p521>,
                              Named<device::Secp256k1, CurveId::secp256k1>, Named<device::Sm2, CurveId::sm2>>;
TYPED_TEST_SUITE(DevicePoints, Curves);

TYPED_TEST(DevicePoints, ConstantsAreTheCurves) {
  using Group = typename TypeParam::Group;
  const auto order = this->words(this->curve_.n);
  for (unsigned j = 0; j < Group::kOrderWords; ++j) EXPECT_EQ(Group::order_word(j), order[j]);
  EXPECT_EQ(this->to_plain(Group::generator()), this->plain_.generator());
  auto p = Group::generator();
  EXPECT_TRUE(Group::is_on_curve(p));
  p.x = Group::Field::add(p.x, Group::Field::one());
  EXPECT_FALSE(Group::is_on_curve(p));
}

TYPED_TEST(DevicePoints, SumsOfAllKindsOfPoints) {
  using Group = typename TypeParam::Group;
  const auto points = this->some_points();
  for (const PlainPoint& a : points) {
    const auto p = this->jacobian_from_plain(a);
    EXPECT_EQ(this->to_plain(Group::twice(p)), this->plain_.add(a, a));
    EXPECT_EQ(this->to_plain(Group::negate(p)), this->plain_.negate(a));
    for (const PlainPoint& b : points) {
      const auto q = this->jacobian_from_plain(b);
      const PlainPoint sum = this->plain_.add(a, b);
      EXPECT_EQ(this->to_plain(Group::add(p, q)), sum);
      EXPECT_EQ(Group::equal(p, q), a == b);
      const bool exceptional = a.infinite || b.infinite || a == b;
      EXPECT_EQ(this->to_plain(Group::add_distinct(p, q)), exceptional ? this->plain_.neutral() : sum);
      EXPECT_EQ(this->to_plain(Group::select(true, p, q)), a);
      EXPECT_EQ(this->to_plain(Group::select(false, p, q)), b);
      if (b.infinite) continue;
      const auto affine = this->from_plain(b);
      EXPECT_EQ(this->to_plain(Group::add(p, affine)), sum);
      EXPECT_EQ(this->to_plain(Group::add_public(p, affine)), sum);
      EXPECT_EQ(this->to_plain(Group::add_distinct(p, affine)), exceptional ? this->plain_.neutral() : sum);
      EXPECT_EQ(this->to_plain(Group::from_affine(Group::negate(affine))), this->plain_.negate(b));
      if (!a.infinite) {
        EXPECT_EQ(Group::equal(affine, this->from_plain(a)), a == b);
      }
    }
  }
}

TYPED_TEST(DevicePoints, AffineSumsForOneInversion) {
  using Group = typename TypeParam::Group;
  const auto points = this->some_points();
  constexpr unsigned kStride = 3;  // of threads
  const std::size_t count = (points.size() - 1) * (points.size() - 1);
  std::vector<typename Group::Affine> p, q, sums(count);
  std::vector<PlainPoint> expected;
  std::vector<int> finite(count);
  for (std::size_t i = 1; i < points.size(); ++i) {
    for (std::size_t j = 1; j < points.size(); ++j) {
      p.push_back(this->from_plain(points[i]));
      q.push_back(this->from_plain(points[j]));
      expected.push_back(this->plain_.add(points[i], points[j]));
    }
  }
  std::vector<std::uint32_t> scratch(count * Group::kWords * kStride, 7);
  Group::add_affine(
      static_cast<unsigned>(count), {scratch.data() + 1, kStride},
      [&](unsigned i, auto& a, auto& b) { a = p[i], b = q[i]; },
      [&](unsigned i, const auto& sum, bool is_finite) { sums[i] = sum, finite[i] = is_finite ? 1 : 0; });
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(finite[i] == 0, expected[i].infinite);
    if (finite[i] != 0) {
      EXPECT_EQ(this->to_plain(sums[i]), expected[i]);
    }
  }
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    if (i % kStride != 1) {
      ASSERT_EQ(scratch[i], 7U);
    }
  }
  Group::add_affine(
      0, {}, [](unsigned, auto&, auto&) { FAIL(); }, [](unsigned, const auto&, bool) { FAIL(); });
}

TYPED_TEST(DevicePoints, Multiples) {
  using Group = typename TypeParam::Group;
  std::vector<std::vector<Limb>> scalars;
  for (const Limb k : {Limb{0}, Limb{1}, Limb{2}, Limb{3}, Limb{16}, Limb{31}}) {
    scalars.push_back(this->small(k));
    if (k != 0) scalars.push_back(this->small(k, true));
  }
  for (int i = 0; i < 3; ++i) scalars.push_back(this->random_scalar());
  const PlainPoint base = this->plain_.multiply(this->random_scalar(), this->plain_.generator());
  for (const auto& k : scalars) {
    const auto number = this->words(k);
    const PlainPoint expected = this->plain_.multiply(k, base);
    EXPECT_EQ(this->to_plain(Group::multiply(this->from_plain(base), number.data())), expected);
    EXPECT_EQ(this->to_plain(Group::multiply_public(this->from_plain(base), number.data())), expected);
  }
}

/// What the field's own tests leave to its face for users: memory, choices and inverses.
TYPED_TEST(DevicePoints, ElementsInMemory) {
  using Field = typename TypeParam::Group::Field;
  std::vector<std::uint32_t> words(Field::kWords + 1, 7);
  std::array<typename Field::Element, 5> x;
  typename Field::Inverses inverses;
  std::vector<typename Field::Element> before;
  for (auto& one : x) {
    one = this->random_element();
    before.push_back(inverses.push(one));
  }
  Field::store(words.data(), x[0]);
  EXPECT_EQ(words.back(), 7U);
  EXPECT_TRUE(Field::equal(Field::load(words.data()), x[0]));
  EXPECT_TRUE(Field::equal(Field::from_words(x[1].words), x[1]));
  EXPECT_TRUE(Field::equal(Field::select(false, x[0], x[1]), x[1]));
  EXPECT_TRUE(Field::equal(Field::half(Field::add(x[0], x[0])), x[0]));
  EXPECT_TRUE(Field::is_zero(Field::inverse(Field::zero())));
  inverses.invert();
  for (std::size_t i = x.size(); i-- > 0;) {
    EXPECT_TRUE(Field::equal(Field::mul(inverses.pop(x[i], before[i]), x[i]), Field::one()));
  }
}

}  // namespace
}  // namespace manymod::test
