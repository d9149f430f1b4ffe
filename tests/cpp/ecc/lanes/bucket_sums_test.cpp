// SPDX-License-Identifier: Apache-2.0
// Sums of many multiples in lanes against scalar64's: random ones, and those whose buckets hold nothing but
// exceptional cases of additions.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ecc/lanes/bucket_sums.hpp"
#include "ecc/lanes/engine.hpp"
#include "ecc/lanes/lane_case.hpp"
#include "ecc/scalar64/engine.hpp"
#include "repr/limbs.hpp"
#include "support/brief.hpp"

namespace manymod::test {
namespace {

using namespace ecc;
using Numbers = std::vector<Limb>;

class BucketSums : public testing::TestWithParam<LaneCase> {
 protected:
  static constexpr std::size_t kTerms = kBriefTests ? 140 : 400;

  void SetUp() override {
    const auto& backend = ecc::lanes::point_lane_backends()[GetParam().backend];
    if (!ecc::lanes::runs_here(backend)) GTEST_SKIP() << "this processor cannot run " << backend.variant;
    exact_ = scalar64::variant().make(curve_, {});
    engine_ = ecc::lanes::make_engine(curve_, backend, scalar64::variant().make(curve_, {}));
    // Multiples of the generator, i G for i from 1 up.
    k_.assign(kTerms * size_, 0);
    for (std::size_t i = 0; i < kTerms; ++i) k_[i * size_] = i + 1;
    x_.resize(kTerms * limbs_);
    y_ = x_;
    infinity_.resize(kTerms);
    engine_->multiply_base({x_.data(), y_.data(), infinity_.data()}, {k_.data(), size_}, {0, kTerms},
                           TimingClass::public_, {});
  }

  void scalar(std::size_t term, const Numbers& k) { limbs::copy_extend({&k_[term * size_], size_}, k); }
  [[nodiscard]] Numbers below_order(Limb value) const {
    Numbers r(size_), less(size_);
    less[0] = value;
    limbs::sub(r, curve_.n, less);
    return r;
  }
  Numbers random_scalar() {
    Numbers r(size_);
    do {
      for (Limb& limb : r) limb = random_();
      limbs::truncate_bits(r, curve_.order_bits);
    } while (!limbs::less_var(r, curve_.n));
    return r;
  }
  void copy_point(std::size_t to, std::size_t from, bool opposite = false) {
    std::copy_n(&x_[from * limbs_], limbs_, &x_[to * limbs_]);
    const std::span<Limb> y(&y_[to * limbs_], limbs_);
    std::copy_n(&y_[from * limbs_], limbs_, y.begin());
    if (opposite) limbs::negate_mod(y, y, curve_.p);
  }
  [[nodiscard]] Numbers sum(const PointEngine& engine, std::size_t terms) const {
    Numbers r(2 * limbs_, 1);
    std::uint8_t infinite = 2;
    engine.sum({r.data(), &r[limbs_], &infinite}, {k_.data(), size_},
               {{x_.data(), limbs_}, {y_.data(), limbs_}, infinity_.data()}, {0, terms}, {});
    r.push_back(infinite);
    return r;
  }
  void expect_equal(const char* what, std::size_t terms = kTerms) const {
    EXPECT_EQ(sum(*engine_, terms), sum(*exact_, terms)) << what << ", " << terms << " terms";
  }
  void expect_infinity(const char* what) const { EXPECT_EQ(sum(*engine_, kTerms).back(), 1) << what; }

  const Curve& curve_ = named_curve(GetParam().curve);
  const std::size_t limbs_ = curve_.limbs(), size_ = curve_.scalar_limbs();
  std::unique_ptr<const PointEngine> exact_, engine_;
  Numbers k_, x_, y_;
  std::vector<std::uint8_t> infinity_;
  std::mt19937_64 random_{3};
};

TEST_P(BucketSums, RandomScalars) {
  for (std::size_t i = 0; i < kTerms; ++i) scalar(i, random_scalar());
  for (const std::size_t terms :
       {std::size_t{15}, std::size_t{16}, std::size_t{31}, std::size_t{32}, std::size_t{131}, kTerms})
    expect_equal("random", terms);
  for (std::size_t i = 0; i < kTerms; i += 3) infinity_[i] = 1;
  expect_equal("a third at infinity");
  std::fill(infinity_.begin(), infinity_.end(), std::uint8_t{1});
  expect_infinity("all at infinity");
}

TEST_P(BucketSums, EveryTermInOneBucket) {
  // Equal points double in each round, and opposite ones vanish.
  const Numbers k = random_scalar();
  for (std::size_t i = 0; i < kTerms; ++i) {
    scalar(i, k);
    copy_point(i, 0);
  }
  expect_equal("equal terms");
  for (std::size_t i = 1; i < kTerms; i += 2) copy_point(i, 0, true);
  expect_infinity("opposite neighbours");
  for (std::size_t i = 0; i < kTerms; ++i) copy_point(i, i % 4 == 3 ? 1 : 0, i % 3 == 0);
  expect_equal("equal and opposite points among others");
}

TEST_P(BucketSums, EdgesOfScalars) {
  for (std::size_t i = 0; i < kTerms; ++i) scalar(i, Numbers(size_));
  expect_infinity("zeros");
  for (std::size_t i = 0; i < kTerms; ++i) scalar(i, below_order(1 + i % 2));
  expect_equal("n - 1 and n - 2");
  for (std::size_t i = 0; i < kTerms; ++i) {
    Numbers power(size_);
    const std::size_t bit = i % (curve_.order_bits - 1);
    power[bit / kLimbBits] = Limb{1} << bit % kLimbBits;
    scalar(i, power);
  }
  expect_equal("powers of two");
  // i G - i G, from the other end.
  const Numbers k = random_scalar();
  for (std::size_t i = 0; i < kTerms; ++i) {
    scalar(i, k);
    if (i >= kTerms / 2) copy_point(i, kTerms - 1 - i, true);
  }
  expect_infinity("opposite halves");
}

/// More terms than an endomorphism splits: equal points of different scalars.
TEST_P(BucketSums, ManyTerms) {
  constexpr std::size_t kMany = 2100;
  if (GetParam().curve != CurveId::secp256k1) return;  // no endomorphism
  k_.resize(kMany * size_);
  x_.resize(kMany * limbs_);
  y_.resize(kMany * limbs_);
  infinity_.resize(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    scalar(i, random_scalar());
    if (i >= kTerms) copy_point(i, i % kTerms, i % 2 == 1);
  }
  expect_equal("many", kMany);
}

TEST_P(BucketSums, Stops) {
  const std::atomic<bool> requested{true};
  Numbers r(2 * limbs_);
  std::uint8_t infinite = 0;
  engine_->sum({r.data(), &r[limbs_], &infinite}, {k_.data(), size_},
               {{x_.data(), limbs_}, {y_.data(), limbs_}, nullptr}, {0, kTerms}, StopToken(&requested));
}

std::vector<LaneCase> all_cases() {
  std::vector<LaneCase> all;
  for (std::size_t i = 0; i < ecc::lanes::point_lane_backends().size(); ++i) {
    // Brief tests have the widest curve in one kind of lanes.
    for (const CurveId curve : {CurveId::secp256k1, CurveId::brainpool256r1, CurveId::bls12_381}) {
      if (!kBriefTests || i == 0 || curve != CurveId::bls12_381) all.push_back({i, curve});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, BucketSums, testing::ValuesIn(all_cases()), name_of_case);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BucketSums);

}  // namespace
}  // namespace manymod::test
