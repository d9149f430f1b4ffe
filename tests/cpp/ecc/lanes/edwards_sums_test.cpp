// SPDX-License-Identifier: Apache-2.0
// Sums of multiples on Ed25519 in lanes against scalar64's: every number of lanes in use, all widths of
// buckets, more items than one block has, and equal and opposite points, which meet in buckets.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/cpu_features.hpp"
#include "ecc/lanes/edwards_engine.hpp"
#include "ecc/scalar64/engine.hpp"
#include "repr/limbs.hpp"
#include "support/naive.hpp"

namespace manymod::test {
namespace {

constexpr std::size_t kLimbs = 4;
using Point = std::array<Limb, 2 * kLimbs>;

class EdwardsSums : public testing::TestWithParam<std::size_t> {
 protected:
  const ecc::Curve& curve_ = ecc::named_curve(ecc::CurveId::ed25519);
  std::unique_ptr<const ecc::PointEngine> exact_ = ecc::scalar64::make_edwards(curve_), engine_;
  std::vector<Limb> scalars_, x_, y_;
  naive::Generator generate_{21};

  void SetUp() override {
    if (GetParam() >= ecc::lanes::edwards_lane_backends().size()) GTEST_SKIP() << "no such lanes";
    const auto& backend = ecc::lanes::edwards_lane_backends()[GetParam()];
    if ((cpu_info().features & backend.needs) != backend.needs)
      GTEST_SKIP() << "this processor does not run " << backend.variant;
    engine_ = ecc::lanes::make_edwards_lanes(curve_, backend);
  }

  /// Multiples of the generator by random numbers, and random scalars below n.
  void make_terms(std::size_t count) {
    scalars_.resize(count * kLimbs);
    for (Limb& limb : scalars_) limb = generate_.limb();
    for (std::size_t i = 0; i < count; ++i) scalars_[i * kLimbs + 3] >>= 4;
    x_.resize(scalars_.size());
    y_.resize(scalars_.size());
    engine_->multiply_base({x_.data(), y_.data(), nullptr}, {scalars_.data(), kLimbs}, {0, count},
                           TimingClass::public_, {});
    std::rotate(scalars_.begin(), scalars_.begin() + kLimbs, scalars_.end());
  }
  [[nodiscard]] Point sum(const ecc::PointEngine& engine, ecc::ItemRange items) const {
    Point r;
    engine.sum({r.data(), r.data() + kLimbs, nullptr}, {scalars_.data(), kLimbs},
               {{x_.data(), kLimbs}, {y_.data(), kLimbs}}, items, {});
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
  const std::size_t count = 2 * 8192 + 3;
  make_terms(count);
  EXPECT_EQ(sum(*engine_, {0, count}), sum(*exact_, {0, count}));
}

TEST_P(EdwardsSums, EqualAndOppositePoints) {
  make_terms(64);
  for (std::size_t i = 1; i < 64; ++i) {
    // Groups of equal terms, of opposite points, and of scalars 0 and n - 1.
    if (i % 4 == 3) continue;
    std::copy_n(&x_[0], kLimbs, &x_[i * kLimbs]);
    std::copy_n(&y_[0], kLimbs, &y_[i * kLimbs]);
    if (i % 4 != 0) std::copy_n(&scalars_[0], kLimbs, &scalars_[i * kLimbs]);
    if (i % 4 == 2) limbs::negate_mod({&x_[i * kLimbs], kLimbs}, {&x_[i * kLimbs], kLimbs}, curve_.p);
    if (i % 16 == 4) std::fill_n(&scalars_[i * kLimbs], kLimbs, Limb{0});
    if (i % 16 == 12) {
      std::copy_n(curve_.n.begin(), kLimbs, &scalars_[i * kLimbs]);
      --scalars_[i * kLimbs];
    }
  }
  EXPECT_EQ(sum(*engine_, {0, 64}), sum(*exact_, {0, 64}));
  // P and -P with one scalar: the neutral element.
  Point neutral{};
  neutral[kLimbs] = 1;
  EXPECT_EQ(sum(*engine_, {1, 3}), neutral);
}

INSTANTIATE_TEST_SUITE_P(Backends, EdwardsSums, testing::Range(std::size_t{0}, std::size_t{3}));

}  // namespace
}  // namespace manymod::test
