// SPDX-License-Identifier: Apache-2.0
// The C++ wrapper: the same results as the C ABI, and errors as exceptions.
#include "manymod/manymod.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
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

TEST(Wrapper, NoItemsHaveNoResults) {
  const Limbs none;
  const Limbs one{5};
  const Limbs two{11, 13};
  EXPECT_EQ(manymod::powmod({none, 1}, {one, 1}, {one, 1}).size(), 0u);
  EXPECT_EQ(manymod::powmod({one, 1}, {none, 1}, {none, 1}).size(), 0u);
  EXPECT_EQ(manymod::negmod({none, 1}, {one, 1}).size(), 0u);
  EXPECT_EQ(manymod::fmamod({none, 1}, {one, 1}, {one, 1}, {one, 1}).size(), 0u);
  EXPECT_EQ(manymod::FixedBase(View(one, 1), View(two, 2), 8).powmod({none, 1}).size(), 0u);
  manymod::Plan plan(manymod::Op::negmod, 64);
  EXPECT_EQ(plan.submit({View(none, 1), {}, View(one, 1)}).wait().size(), 0u);
  // No item and two items do not go together, and an operand that is not given is no empty one.
  EXPECT_THROW((void)manymod::addmod({none, 1}, {one, 1}, {two, 1}), manymod::Error);
  EXPECT_THROW((void)manymod::negmod({}, {one, 1}), manymod::Error);
}

TEST(Wrapper, CountsOfTermsAreThoseGiven) {
  const Limbs none;
  const Limbs x{2, 3};
  const Limbs n{1000};
  EXPECT_EQ(manymod::summod({x, 1}, {n, 1}, 0, 2).size(), 0u);
  EXPECT_EQ(manymod::prodmod({none, 1}, {n, 1}, 0, 0).size(), 0u);
  EXPECT_EQ(manymod::dotmod({none, 1}, {none, 1}, {n, 1}, 0, 3).size(), 0u);
  const manymod::Batch products = manymod::prodmod({none, 1}, {n, 1}, 2, 0);
  EXPECT_EQ(products.size(), 2u);
  EXPECT_EQ(products[1][0], 1u);
  manymod::Plan plan(manymod::Op::summod, 64, manymod::ModulusKind::shared);
  manymod::Operands operands{View(x, 1), {}, View(n, 1)};
  operands.terms = 2;
  EXPECT_THROW((void)plan.run(operands), manymod::Error);
  operands.count = 3;
  EXPECT_EQ(plan.run(operands)[2][0], 5u);
}

TEST(Wrapper, BatchesAreNoLargerThanArrays) {
  constexpr std::size_t kHuge = std::size_t{1} << 60;
  EXPECT_THROW(manymod::Batch(16, kHuge), manymod::Error);  // 2^64 limbs
  EXPECT_THROW(manymod::Batch(1, kHuge), manymod::Error);
  EXPECT_EQ(manymod::Batch(3, 0).size(), 3u);
  // The results of a call are as wide as its modulus, which here says that it has 2^60 limbs.
  const Limbs x(16);
  manymod::Plan plan(manymod::Op::negmod, 64);
  EXPECT_THROW((void)plan.run({View(x, 1), {}, View(mm_view{x.data(), 1, kHuge, 0, nullptr})}),
               manymod::Error);
}

TEST(Wrapper, ObjectsOfTheCInterface) {
  const Limbs x{7};
  const Limbs n{11};
  Limbs r{0};
  manymod::Plan plan(manymod::Op::negmod, 64);
  mm_call call{};
  call.struct_size = sizeof call;
  call.count = 1;
  call.x = View(x, 1).get();
  call.y = View(x, 1).get();
  call.modulus = View(n, 1).get();
  call.result = {r.data(), 1, 1, 1, nullptr};
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_OK);
  EXPECT_EQ(r[0], 4u);
  manymod::FixedBase powers(View(x, 1), View(n, 1), 8);
  EXPECT_EQ(mm_fixed_base_powmod(powers.get(), &call), MM_OK);
  EXPECT_EQ(r[0], 6u);  // 7^7 mod 11
  const manymod::Plan moved = std::move(plan);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  EXPECT_THROW((void)plan.run({View(x, 1), {}, View(n, 1)}), manymod::Error);
}

TEST(Wrapper, ProgressExceptionsComeBack) {
  const Limbs x{2};
  const Limbs y(64, ~std::uint64_t{0});
  const Limbs n(std::size_t{64} * 20'000, ~std::uint64_t{0});
  manymod::Placement on_cpu;  // a GPU could end before the first tick
  on_cpu.device = "cpu";
  manymod::Plan plan(manymod::Op::powmod, 4096, manymod::ModulusKind::each, manymod::Timing::public_, on_cpu);
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
