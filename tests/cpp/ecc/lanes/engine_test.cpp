// SPDX-License-Identifier: Apache-2.0
// The engines on lanes against scalar64's: random items, and scalars that meet each exceptional case.
#include "ecc/lanes/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "arch/scalar/word.hpp"
#include "ecc/lanes/lane_case.hpp"
#include "ecc/scalar64/engine.hpp"
#include "support/brief.hpp"

namespace manymod::test {
namespace {

using namespace ecc;
using Numbers = std::vector<Limb>;

/// Points of a curve, or scalars where only x is used.
struct Points {
  Numbers x, y;
  std::vector<std::uint8_t> infinity;
  std::size_t limbs;

  Points(std::size_t count, std::size_t limbs_each)
      : x(count * limbs_each), y(count * limbs_each), infinity(count), limbs(limbs_each) {}
  [[nodiscard]] PointRows rows() const { return {{x.data(), limbs}, {y.data(), limbs}, infinity.data()}; }
  [[nodiscard]] PointResults results() { return {x.data(), y.data(), infinity.data()}; }
  friend bool operator==(const Points&, const Points&) = default;
};

class LaneEngine : public testing::TestWithParam<LaneCase> {
 protected:
  static constexpr int kRandom = kBriefTests ? 7 : 20;  // items beside those of edges

  void SetUp() override {
    const auto& backend = ecc::lanes::point_lane_backends()[GetParam().backend];
    if (!ecc::lanes::runs_here(backend)) GTEST_SKIP() << "this processor cannot run " << backend.variant;
    exact_ = scalar64::variant().make(curve_, {});
    engine_ = ecc::lanes::make_engine(curve_, backend, scalar64::variant().make(curve_, {}));
  }

  [[nodiscard]] std::size_t size() const { return curve_.scalar_limbs(); }
  [[nodiscard]] Numbers number(Limb value) const {
    Numbers r(size());
    r[0] = value;
    return r;
  }
  [[nodiscard]] Numbers below_order(const Numbers& x) const {
    Numbers r(size());
    Limb borrow = 0;
    for (std::size_t i = 0; i < size(); ++i) r[i] = word::sub_borrow(curve_.n[i], x[i], borrow);
    return r;
  }
  [[nodiscard]] Numbers random_scalar() {
    Numbers r(size());
    do {
      for (Limb& limb : r) limb = random_();
      r.back() >>= (kLimbBits - curve_.order_bits % kLimbBits) % kLimbBits;
    } while (!std::lexicographical_compare(r.rbegin(), r.rend(), curve_.n.rbegin(), curve_.n.rend()));
    return r;
  }
  /// Small ones and their opposites, powers of two and their neighbours, and the halves of n.
  [[nodiscard]] std::vector<Numbers> edges() const {
    std::vector<Numbers> all = {number(0)};
    for (Limb i = 1; i < 70; i += kBriefTests ? 23 : 1)
      all.insert(all.end(), {number(i), below_order(number(i))});
    for (std::size_t bit = 7; bit + 1 < curve_.order_bits; bit += kBriefTests ? 63 : 3) {
      Numbers power = number(0);
      power[bit / kLimbBits] = Limb{1} << bit % kLimbBits;
      all.insert(all.end(), {power, below_order(power)});
    }
    Numbers half(size());
    for (std::size_t i = 0; i < size(); ++i) {
      half[i] = curve_.n[i] >> 1 | (i + 1 < size() ? curve_.n[i + 1] << 63 : 0);
    }
    all.insert(all.end(), {half, below_order(half)});
    return all;
  }
  static Numbers joined(const std::vector<Numbers>& numbers) {
    Numbers r;
    for (const Numbers& x : numbers) r.insert(r.end(), x.begin(), x.end());
    return r;
  }
  /// k_i G by scalar64.
  [[nodiscard]] Points multiples(const Numbers& k) const {
    Points r(k.size() / size(), curve_.limbs());
    exact_->multiply_base(r.results(), {k.data(), size()}, {0, k.size() / size()}, TimingClass::public_, {});
    return r;
  }

  const Curve& curve_ = named_curve(GetParam().curve);
  std::unique_ptr<const PointEngine> exact_, engine_;
  std::mt19937_64 random_{26};
};

TEST_P(LaneEngine, MultiplesOfTheGenerator) {
  auto scalars = edges();
  for (int i = 0; i < (kBriefTests ? kRandom : 530); ++i) scalars.push_back(random_scalar());
  const Numbers k = joined(scalars);
  Points r(scalars.size(), curve_.limbs());
  engine_->multiply_base(r.results(), {k.data(), size()}, {0, scalars.size()}, TimingClass::secret, {});
  EXPECT_EQ(r, multiples(k));
}

TEST_P(LaneEngine, MultiplesOfPoints) {
  auto scalars = edges();
  for (int i = 0; i < kRandom; ++i) scalars.push_back(random_scalar());
  const std::size_t count = scalars.size();
  std::vector<Numbers> others;
  for (std::size_t i = 0; i < count; ++i) others.push_back(i % 3 == 0 ? number(1 + i % 2) : random_scalar());
  const Numbers k = joined(scalars);
  const Points points = multiples(joined(others));
  Points r(count, curve_.limbs()), expected = r;
  engine_->multiply(r.results(), {k.data(), size()}, points.rows(), {0, count}, TimingClass::secret, {});
  exact_->multiply(expected.results(), {k.data(), size()}, points.rows(), {0, count}, TimingClass::public_,
                   {});
  EXPECT_EQ(r, expected);
}

TEST_P(LaneEngine, SumsOfTwoMultiples) {
  // P = +-j G, and u such that u G + v P passes through infinity or through equal points.
  std::vector<Numbers> u, v, others;
  const auto edge = edges();
  for (std::size_t i = 0; i < edge.size(); ++i) {
    const Numbers j = number(1 + i % 5);
    for (const bool opposite : {false, true}) {
      others.push_back(opposite ? below_order(j) : j);
      u.push_back(edge[i]);
      v.push_back(i % 3 == 0 ? edge[i] : edge[(i + 7) % edge.size()]);
    }
  }
  for (int i = 0; i < kRandom; ++i) {
    others.push_back(random_scalar());
    u.push_back(random_scalar());
    v.push_back(random_scalar());
  }
  const std::size_t count = u.size();
  const Numbers us = joined(u), vs = joined(v);
  const Points points = multiples(joined(others));
  Points r(count, curve_.limbs()), expected = r;
  const NumberRows first = {us.data(), size()}, second = {vs.data(), size()};
  engine_->multiply_two(r.results(), first, second, points.rows(), {0, count}, {});
  exact_->multiply_two(expected.results(), first, second, points.rows(), {0, count}, {});
  EXPECT_EQ(r, expected);
}

TEST_P(LaneEngine, Sums) {
  // All pairs of infinity, G, 2 G, 3 G and their opposites, and random ones.
  std::vector<Numbers> first, second;
  std::vector<Numbers> few = {number(0)};
  for (Limb i = 1; i < 4; ++i) few.insert(few.end(), {number(i), below_order(number(i))});
  for (const Numbers& a : few) {
    for (const Numbers& b : few) {
      first.push_back(a);
      second.push_back(b);
    }
  }
  for (int i = 0; i < 10; ++i) {
    first.push_back(random_scalar());
    second.push_back(random_scalar());
  }
  const Points p = multiples(joined(first)), q = multiples(joined(second));
  Points r(first.size(), curve_.limbs()), expected = r;
  engine_->add(r.results(), p.rows(), q.rows(), {0, first.size()});
  exact_->add(expected.results(), p.rows(), q.rows(), {0, first.size()});
  EXPECT_EQ(r, expected);
}

TEST_P(LaneEngine, CoordinatesAndChecks) {
  // x from 0 up: about half of them are of points; p - 1 is the greatest.
  constexpr std::size_t kCount = 75;
  Points r(kCount, curve_.limbs()), expected = r;
  std::vector<std::uint8_t> odd(kCount), found(kCount), expected_found(kCount);
  Numbers x(kCount * curve_.limbs());
  for (std::size_t i = 0; i + 1 < kCount; ++i) x[i * curve_.limbs()] = i;
  std::copy(curve_.p.begin(), curve_.p.end(), x.end() - static_cast<std::ptrdiff_t>(curve_.limbs()));
  x[x.size() - curve_.limbs()] -= 1;
  for (std::size_t i = 0; i < kCount; ++i) odd[i] = static_cast<std::uint8_t>(i / 2 % 2);
  const NumberRows given = {x.data(), curve_.limbs()};
  engine_->lift(r.y.data(), found.data(), given, odd.data(), {0, kCount});
  exact_->lift(expected.y.data(), expected_found.data(), given, odd.data(), {0, kCount});
  EXPECT_EQ(found, expected_found);
  EXPECT_EQ(r, expected);
  EXPECT_NE(std::count(found.begin(), found.end(), 0), 0);

  r.x = x;
  std::vector<std::uint8_t> valid(kCount);
  engine_->check(valid.data(), r.rows(), {0, kCount});
  EXPECT_EQ(valid, found);
  r.infinity.assign(kCount, 1);
  engine_->check(valid.data(), r.rows(), {0, kCount});
  EXPECT_EQ(std::count(valid.begin(), valid.end(), 1), static_cast<std::ptrdiff_t>(kCount));
}

TEST_P(LaneEngine, RangesAndSharedOperands) {
  constexpr std::size_t kCount = kBriefTests ? 24 : 40;
  const Numbers k = random_scalar();
  for (const ItemRange items : {ItemRange{3, 3}, ItemRange{0, 1}, ItemRange{5, 22}, ItemRange{0, kCount}}) {
    Points r(kCount, curve_.limbs());
    std::fill(r.x.begin(), r.x.end(), 99);
    const PointRows generator = {{curve_.x.data(), 0}, {curve_.y.data(), 0}, nullptr};
    engine_->multiply(r.results(), {k.data(), 0}, generator, items, TimingClass::secret, {});
    const Points expected = multiples(k);
    for (std::size_t i = 0; i < kCount; ++i) {
      const bool inside = i >= items.begin && i < items.end;
      for (std::size_t j = 0; j < curve_.limbs(); ++j) {
        EXPECT_EQ(r.x[i * curve_.limbs() + j], inside ? expected.x[j] : 99);
      }
    }
  }
}

std::vector<LaneCase> all_cases() {
  std::vector<LaneCase> all;
  for (std::size_t i = 0; i < ecc::lanes::point_lane_backends().size(); ++i) {
    const auto& backend = ecc::lanes::point_lane_backends()[i];
    // Brief tests leave out most curves of this one: it is lanes.radix29.avx2 in wider vectors.
    const bool few = kBriefTests && std::string(backend.variant) == "lanes.radix29.avx512";
    for (const auto* const calls : backend.curves) {
      if (!few || calls->curve == CurveId::p521) all.push_back({i, calls->curve});
    }
    // Of those that no kernels are made for: a = 0, and any other a.
    all.push_back({i, CurveId::bn254});
    if (!few) all.push_back({i, CurveId::brainpool256r1});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, LaneEngine, testing::ValuesIn(all_cases()), name_of_case);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaneEngine);

}  // namespace
}  // namespace manymod::test
