// SPDX-License-Identifier: Apache-2.0
// The C++ wrapper: the same results as the C ABI, and errors as exceptions.
#include "manymod/manymod.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace {

using Limbs = std::vector<std::uint64_t>;
using manymod::View;

TEST(Wrapper, OneCallHelpers) {
  const Limbs x{7, 9};
  const Limbs y{5};
  const Limbs n{11, 13};
  EXPECT_EQ(manymod::addmod({x, 1}, {y, 1}, {n, 1})[1][0], 1u);
  EXPECT_EQ(manymod::submod({y, 1}, {x, 1}, {n, 1})[0][0], 9u);
  EXPECT_EQ(manymod::negmod({x, 1}, {n, 1})[1][0], 4u);
  EXPECT_EQ(manymod::mulmod({x, 1}, {y, 1}, {n, 1})[0][0], 2u);
  EXPECT_EQ(manymod::sqrmod({x, 1}, {n, 1})[1][0], 3u);
  EXPECT_EQ(manymod::powmod({x, 1}, {y, 1}, {n, 1})[0][0], 10u);
  EXPECT_EQ(manymod::powmod_sec({x, 1}, {y, 1}, {n, 1})[0][0], 10u);
  EXPECT_EQ(manymod::invmod({x, 1}, {n, 1})[1][0], 3u);
}

TEST(Wrapper, SignsAndWidths) {
  manymod::Batch x(1, 2);
  x[0][0] = 3;
  x.set_negative(0, true);
  manymod::Batch n(1, 3);
  n[0][0] = 10;
  n.set_negative(0, true);
  const manymod::Batch r = manymod::mulmod(x, x, n);
  EXPECT_EQ(r.width(), 3u);
  EXPECT_EQ(r[0][0], 1u);
  EXPECT_TRUE(r.negative(0));
}

TEST(Wrapper, BadItemsThrowOrAreReported) {
  const Limbs x{2, 3};
  const Limbs n{4};
  EXPECT_THROW((void)manymod::invmod({x, 1}, {n, 1}), manymod::Error);
  try {
    (void)manymod::invmod({x, 1}, {n, 1});
  } catch (const manymod::Error& error) {
    EXPECT_EQ(error.status(), MM_ERR_ITEMS);
    EXPECT_NE(std::string(error.what()).find("item 0"), std::string::npos) << error.what();
  }
  manymod::Plan plan(manymod::Op::invmod, 64);
  manymod::Operands operands;
  operands.x = View(x, 1);
  operands.modulus = View(n, 1);
  std::vector<mm_status> statuses;
  const manymod::Batch r = plan.run(operands, &statuses);
  EXPECT_EQ(statuses, (std::vector<mm_status>{MM_ITEM_NOT_INVERTIBLE, MM_OK}));
  EXPECT_EQ(r[1][0], 3u);
}

TEST(Wrapper, BadCallsThrow) {
  const Limbs three{1, 2, 3};
  for (const std::size_t width : {2U, 0U}) {
    try {
      (void)View(three, width);
      FAIL();
    } catch (const manymod::Error& error) {
      EXPECT_EQ(error.status(), MM_ERR_ARGUMENT);
      EXPECT_NE(std::string(error.what()).find("no whole number"), std::string::npos) << error.what();
    }
  }
  const std::vector<std::uint8_t> signs(2);
  EXPECT_THROW((void)View(three, 1, signs), manymod::Error);
  const Limbs two{1, 2};
  EXPECT_THROW((void)manymod::addmod({three, 1}, {two, 1}, {three, 1}), manymod::Error);
  manymod::Placement nowhere;
  nowhere.variant = "nonesuch";
  EXPECT_THROW(
      manymod::Plan(manymod::Op::powmod, 64, manymod::ModulusKind::each, manymod::Timing::public_, nowhere),
      manymod::Error);
}

TEST(Wrapper, ConstantTimeSumsAndProducts) {
  const Limbs x{7, 9};
  const Limbs y{5};
  const Limbs n{11, 13};
  EXPECT_EQ(manymod::addmod_sec({x, 1}, {y, 1}, {n, 1})[1][0], 1u);
  EXPECT_EQ(manymod::submod_sec({y, 1}, {x, 1}, {n, 1})[0][0], 9u);
  EXPECT_EQ(manymod::negmod_sec({x, 1}, {n, 1})[1][0], 4u);
  EXPECT_EQ(manymod::mulmod_sec({x, 1}, {y, 1}, {n, 1})[0][0], 2u);
  EXPECT_EQ(manymod::sqrmod_sec({x, 1}, {n, 1})[1][0], 3u);
  const Limbs even{10};
  EXPECT_THROW((void)manymod::mulmod_sec({x, 1}, {y, 1}, {even, 1}), manymod::Error);
}

TEST(Wrapper, ConstantTimeInverses) {
  const Limbs three{3};
  const Limbs eleven{11};
  EXPECT_EQ(manymod::invmod_sec({three, 1}, {eleven, 1})[0][0], 4u);
  const Limbs even{10};  // 3 is invertible modulo 10, but constant-time inverses need odd moduli
  EXPECT_EQ(manymod::invmod({three, 1}, {even, 1})[0][0], 7u);
  EXPECT_THROW((void)manymod::invmod_sec({three, 1}, {even, 1}), manymod::Error);
}

TEST(Wrapper, MultiPowmodAndFixedBase) {
  const Limbs x{2, 3};
  const Limbs y{5, 4};
  const Limbs n{1000};
  manymod::Plan plan(manymod::Op::multi_powmod, 64, manymod::ModulusKind::shared);
  manymod::Operands operands{View(x, 1), View(y, 1), View(n, 1)};
  operands.count = 1;
  operands.terms = 2;
  EXPECT_EQ(plan.run(operands)[0][0], 592u);
  manymod::FixedBase powers(View(Limbs{3}, 1), View(n, 1), 8);
  EXPECT_EQ(powers.powmod(View(y, 1))[0][0], 243u);
  EXPECT_FALSE(powers.variant().empty());
  EXPECT_EQ(powers.variant_for(1'000'000), powers.variant());
}

TEST(Wrapper, ProgressExceptionsComeBack) {
  const Limbs x{2};
  const Limbs y(64, ~std::uint64_t{0});
  const Limbs n(std::size_t{64} * 20'000, ~std::uint64_t{0});
  manymod::Plan plan(manymod::Op::powmod, 4096);
  const manymod::Operands operands{View(x, 1), View(y, 64), View(n, 64)};
  const manymod::Progress angry = [](std::size_t, std::size_t) -> bool { throw std::domain_error("enough"); };
  EXPECT_THROW((void)plan.run(operands, nullptr, angry), std::domain_error);
  const manymod::Progress tired = [](std::size_t, std::size_t) { return false; };
  try {
    (void)plan.run(operands, nullptr, tired);
    ADD_FAILURE() << "the call was not cancelled";
  } catch (const manymod::Error& error) {
    EXPECT_EQ(error.status(), MM_ERR_CANCELLED);
  }
}

TEST(Wrapper, ProgressOfAFixedBase) {
  const Limbs x{3};
  const Limbs n(256, ~std::uint64_t{0});
  const auto make = [&](const manymod::Progress& progress) {
    manymod::FixedBase(View(x, 1), View(n, 256), std::size_t{1} << 20, manymod::Timing::public_, {},
                       progress);
  };
  EXPECT_THROW(make([](std::size_t, std::size_t) -> bool { throw std::domain_error("enough"); }),
               std::domain_error);
  EXPECT_THROW(make([](std::size_t, std::size_t) { return false; }), manymod::Error);
}

}  // namespace
