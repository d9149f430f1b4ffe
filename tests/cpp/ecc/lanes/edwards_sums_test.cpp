// SPDX-License-Identifier: Apache-2.0
// Sums of multiples on Ed25519 and Ed448 in lanes against scalar64's: every number of lanes in use, all
// widths of buckets, more items than one block has, and equal and opposite points, which meet in buckets.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ecc/lanes/edwards_backends.hpp"
#include "ecc/lanes/edwards_engine.hpp"
#include "ecc/scalar64/engine.hpp"
#include "repr/limbs.hpp"
#include "support/brief.hpp"
#include "support/naive.hpp"

namespace manymod::test {
namespace {

using Point = std::vector<Limb>;

/// A backend and a curve.
class EdwardsSums : public testing::TestWithParam<std::tuple<std::size_t, ecc::CurveId>> {
 protected:
  const ecc::Curve& curve_ = ecc::named_curve(std::get<1>(GetParam()));
  const std::size_t limbs_ = curve_.limbs();
  std::unique_ptr<const ecc::PointEngine> exact_ = ecc::scalar64::make_edwards(curve_), engine_;
  std::vector<Limb> scalars_, x_, y_;
  naive::Generator generate_{21};

  void SetUp() override {
    const std::size_t index = std::get<0>(GetParam());
    if (const std::string obstacle = obstacle_of_edwards_backend(index); !obstacle.empty()) {
      GTEST_SKIP() << obstacle;
    }
    const auto& backend = ecc::lanes::edwards_lane_backends()[index];
    engine_ = ecc::lanes::make_edwards_lanes(curve_, backend);
  }

  /// Multiples of the generator by random numbers, and random scalars below n.
  void make_terms(std::size_t count) {
    scalars_.resize(count * limbs_);
    for (Limb& limb : scalars_) limb = generate_.limb();
    for (std::size_t i = 0; i < count; ++i) scalars_[(i + 1) * limbs_ - 1] >>= 4;
    x_.resize(scalars_.size());
    y_.resize(scalars_.size());
    engine_->multiply_base({x_.data(), y_.data(), nullptr}, {scalars_.data(), limbs_}, {0, count},
                           TimingClass::public_, {});
    std::rotate(scalars_.begin(), scalars_.begin() + static_cast<std::ptrdiff_t>(limbs_), scalars_.end());
  }
  [[nodiscard]] Point sum(const ecc::PointEngine& engine, ecc::ItemRange items) const {
    Point r(2 * limbs_);
    engine.sum({r.data(), r.data() + limbs_, nullptr}, {scalars_.data(), limbs_},
               {{x_.data(), limbs_}, {y_.data(), limbs_}}, items, {});
    return r;
  }
};

TEST_P(EdwardsSums, AgreeWithScalars) {
  make_terms(1200);
  for (std::size_t count = 0; count < 20; ++count) {
    EXPECT_EQ(sum(*engine_, {count, 2 * count}), sum(*exact_, {count, 2 * count})) << count;
  }
  for (const std::size_t count : {63U, 64U, 200U, 1199U}) {
    EXPECT_EQ(sum(*engine_, {1, 1 + count}), sum(*exact_, {1, 1 + count})) << count;
  }
}

TEST_P(EdwardsSums, SeveralBlocks) {
  if (limbs_ > 4) return;  // blocks do not depend on the curve, and scalar64 takes long
  const std::size_t count = (kBriefTests ? 1 : 2) * 8192 + 3;
  make_terms(count);
  EXPECT_EQ(sum(*engine_, {0, count}), sum(*exact_, {0, count}));
}

TEST_P(EdwardsSums, EqualAndOppositePoints) {
  make_terms(64);
  for (std::size_t i = 1; i < 64; ++i) {
    // Groups of equal terms, of opposite points, and of scalars 0 and n - 1.
    if (i % 4 == 3) continue;
    std::copy_n(&x_[0], limbs_, &x_[i * limbs_]);
    std::copy_n(&y_[0], limbs_, &y_[i * limbs_]);
    if (i % 4 != 0) std::copy_n(&scalars_[0], limbs_, &scalars_[i * limbs_]);
    if (i % 4 == 2) limbs::negate_mod({&x_[i * limbs_], limbs_}, {&x_[i * limbs_], limbs_}, curve_.p);
    if (i % 16 == 4) std::fill_n(&scalars_[i * limbs_], limbs_, Limb{0});
    if (i % 16 == 12) {
      std::copy_n(curve_.n.begin(), limbs_, &scalars_[i * limbs_]);
      --scalars_[i * limbs_];
    }
  }
  EXPECT_EQ(sum(*engine_, {0, 64}), sum(*exact_, {0, 64}));
  // P and -P with one scalar: the neutral element.
  Point neutral(2 * limbs_);
  neutral[limbs_] = 1;
  EXPECT_EQ(sum(*engine_, {1, 3}), neutral);
}

INSTANTIATE_TEST_SUITE_P(Backends, EdwardsSums,
                         testing::Combine(testing::Range(std::size_t{0}, std::size_t{3}),
                                          testing::Values(ecc::CurveId::ed25519, ecc::CurveId::ed448)));

}  // namespace
}  // namespace manymod::test
