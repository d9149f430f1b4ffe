// SPDX-License-Identifier: Apache-2.0
// Statuses per item, the order of items of mixed widths, in-place calls, shared operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "plan_helpers.hpp"
#include "small_integers.hpp"

namespace manymod::testing {
namespace {

using Limbs = std::vector<std::uint64_t>;

TEST(Items, BadOnesAreReportedAndTheRestComputed) {
  const Integers x({2, 3, 4, 5, 6, 7});
  const Integers y({-1, -1, -1, 3, 3, 3});
  const Integers n({0, 7, 6, 1, 1LL << 40, 100});
  Integers result({9, 9, 9, 9, 9, 9}, 2);
  std::vector<std::uint8_t> statuses(6, 0xff);
  const PlanPointer plan = make_plan(plan_options(MM_OP_POWMOD, MM_TIMING_PUBLIC, 40));
  const mm_call call = make_call(x.view(), y.view(), n.view(), result.result(), statuses.data());
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ITEMS);
  EXPECT_EQ(statuses, (std::vector<std::uint8_t>{MM_ITEM_ZERO_MODULUS, MM_OK, MM_ITEM_NOT_INVERTIBLE, MM_OK,
                                                 MM_ITEM_MODULUS_TOO_WIDE, MM_OK}));
  const std::vector<std::int64_t> expected{0, 5, 0, 0, 0, 43};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(result.value(i), expected[i]) << i;
  EXPECT_STREQ(mm_last_error(), "3 of 6 items have no result; the first is item 0: the modulus is 0");
}

TEST(Items, SecretNeedsOddModuli) {
  const Integers x({2, 3});
  const Integers y({5, 5});
  const Integers n({8, 7});
  Integers result({9, 9});
  std::vector<std::uint8_t> statuses(2, 0xff);
  const PlanPointer plan = make_plan(plan_options(MM_OP_POWMOD, MM_TIMING_SECRET));
  const mm_call call = make_call(x.view(), y.view(), n.view(), result.result(), statuses.data());
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ITEMS);
  EXPECT_EQ(statuses, (std::vector<std::uint8_t>{MM_ITEM_EVEN_MODULUS, MM_OK}));
  EXPECT_EQ(result.value(0), 0);
  EXPECT_EQ(result.value(1), 5);
}

TEST(Items, BadSharedModulusFailsEveryItem) {
  const Integers x({2, 3});
  const Integers y({5, 5});
  for (const auto& [modulus, status] :
       {std::pair<std::int64_t, mm_status>{0, MM_ITEM_ZERO_MODULUS}, {1 << 10, MM_ITEM_MODULUS_TOO_WIDE}}) {
    const Integers n({modulus});
    Integers result({9, 9});
    std::vector<std::uint8_t> statuses(2, 0xff);
    const PlanPointer plan = make_plan(plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, 10, MM_MODULUS_SHARED));
    const mm_call call = make_call(x.view(), y.view(), n.view(), result.result(), statuses.data());
    EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ITEMS);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(statuses[i], status);
      EXPECT_EQ(result.value(i), 0);
    }
  }
}

TEST(Items, StatusArrayIsOptional) {
  const Integers x({2, 3});
  const Integers n({0, 7});
  Integers result({9, 9});
  const PlanPointer plan = make_plan(plan_options(MM_OP_SQRMOD));
  const mm_call call = make_call(x.view(), {}, n.view(), result.result());
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ITEMS);
  EXPECT_EQ(result.value(0), 0);
  EXPECT_EQ(result.value(1), 2);
}

TEST(Items, LastErrorNamesTheArgument) {
  const mm_plan_options bad = plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, 0);
  mm_plan* plan = nullptr;
  EXPECT_EQ(mm_plan_create(&bad, &plan), MM_ERR_ARGUMENT);
  EXPECT_STREQ(mm_last_error(), "modulus_bits is 0, expected 1 to 16384");
}

// For x = 2^(64 k) + 1 and the modulus 2^(64 m) - 1, x^2 mod n is 2^(128 k mod 64 m) + 2^(64 k + 1) + 1.
TEST(Items, MixedWidthsKeepTheirOrder) {
  constexpr std::size_t kWidth = 20;
  constexpr std::size_t kCount = 500;
  Limbs x(kCount * kWidth, 0);
  Limbs n(kCount * kWidth, 0);
  Limbs expected(kCount * kWidth, 0);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t m = 2 + (i * 7) % (kWidth - 2);
    const std::size_t k = 1 + (i * 5) % (m - 1);
    std::fill_n(n.begin() + static_cast<std::ptrdiff_t>(i * kWidth), m, ~std::uint64_t{0});
    x[i * kWidth] = 1;
    x[i * kWidth + k] = 1;
    expected[i * kWidth] += 1;
    expected[i * kWidth + k] += 2;
    expected[i * kWidth + 2 * k % m] += 1;
  }
  for (const mm_variant_info& variant : usable_variants()) {
    mm_plan_options options = plan_options(MM_OP_SQRMOD, MM_TIMING_PUBLIC, kWidth * 64);
    if (!serves(variant, options)) continue;
    options.variant = variant.name;
    const PlanPointer plan = make_plan(options);
    Limbs result(kCount * kWidth, 7);
    const mm_call call =
        make_call({x.data(), kCount, kWidth, 0, nullptr}, {}, {n.data(), kCount, kWidth, 0, nullptr},
                  {result.data(), kCount, kWidth, 0, nullptr});
    ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
    EXPECT_EQ(result, expected) << variant.name;
  }
}

// Exponents of different lengths make the dispatcher reorder the items; the results must keep the order of
// the batch.
TEST(Items, ExponentsOfDifferentLengthsKeepTheirOrder) {
  constexpr std::size_t kCount = 300;
  std::vector<std::int64_t> x;
  std::vector<std::int64_t> y;
  std::vector<std::int64_t> n;
  for (std::size_t i = 0; i < kCount; ++i) {
    x.push_back(static_cast<std::int64_t>(i * 37 % 1009));
    y.push_back(static_cast<std::int64_t>(i % 3 == 0 ? i * i % 4000 : i % 5));
    n.push_back(static_cast<std::int64_t>(i % 7 == 0 ? 0 : 1000 + i));
  }
  const PlanPointer plan = make_plan(plan_options(MM_OP_POWMOD));
  Integers result(n);
  const Integers xs(x);
  const Integers ys(y, 4);
  const Integers ns(n);
  std::vector<std::uint8_t> statuses(kCount);
  const mm_call call = make_call(xs.view(), ys.view(), ns.view(), result.result(), statuses.data());
  ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ITEMS);
  for (std::size_t i = 0; i < kCount; ++i) {
    const Expected expected = python_pow(x[i], y[i], n[i]);
    EXPECT_EQ(statuses[i], expected.status) << i;
    EXPECT_EQ(result.value(i), expected.value) << i;
  }
}

// The result may replace any operand that has as many items.
TEST(Items, InPlace) {
  const std::vector<std::int64_t> x{3, -4, 5, 100, -7, 12};
  const std::vector<std::int64_t> y{6, 7, -8, -1, 3, 5};
  const std::vector<std::int64_t> n{11, -13, 17, 101, -9, 5};
  for (const mm_op op :
       {MM_OP_ADDMOD, MM_OP_SUBMOD, MM_OP_NEGMOD, MM_OP_MULMOD, MM_OP_SQRMOD, MM_OP_POWMOD, MM_OP_INVMOD}) {
    for (int replaced = 0; replaced < 3; ++replaced) {
      Integers operands[3] = {Integers(x, 2), Integers(y, 2), Integers(n, 2)};
      const PlanPointer plan = make_plan(plan_options(op));
      const mm_call call =
          make_call(operands[0].view(), operands[1].view(), operands[2].view(), operands[replaced].result());
      ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(operands[replaced].value(i), python_operation(op, x[i], y[i], n[i]).value)
            << "op " << op << " replacing operand " << replaced << ", item " << i;
      }
    }
  }
}

TEST(Items, InPlaceWithASharedModulus) {
  std::vector<std::int64_t> x;
  for (std::int64_t i = 1; i <= 200; ++i) x.push_back(i % 2 == 0 ? -i : i);
  const Integers n({211});
  for (const mm_op op : {MM_OP_INVMOD, MM_OP_SQRMOD, MM_OP_NEGMOD}) {
    const PlanPointer plan = make_plan(plan_options(op, MM_TIMING_PUBLIC, 64, MM_MODULUS_SHARED));
    Integers values(x);
    const mm_call call = make_call(values.view(), {}, n.view(), values.result());
    ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(values.value(i), python_operation(op, x[i], 0, 211).value) << "op " << op << ", item " << i;
    }
  }
}

// An item that is not invertible must not affect the other items of a block that shares one inversion.
TEST(Items, SharedInversionSkipsBadItems) {
  std::vector<std::int64_t> x;
  for (std::int64_t i = -300; i < 300; ++i) x.push_back(i);
  const Integers xs(x);
  for (const std::int64_t modulus : {210, -210, 1009, 1024, 15, -15}) {
    const Integers n({modulus});
    const PlanPointer plan = make_plan(plan_options(MM_OP_INVMOD, MM_TIMING_PUBLIC, 64, MM_MODULUS_SHARED));
    Integers result(x);
    std::vector<std::uint8_t> statuses(x.size(), 0xff);
    const mm_call call = make_call(xs.view(), {}, n.view(), result.result(), statuses.data());
    ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ITEMS);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Expected expected = python_pow(x[i], -1, modulus);
      ASSERT_EQ(statuses[i], expected.status) << x[i] << " mod " << modulus;
      ASSERT_EQ(result.value(i), expected.value) << x[i] << " mod " << modulus;
    }
  }
}

TEST(Items, Broadcasting) {
  const std::vector<std::int64_t> many{3, 4, -5, 6};
  for (unsigned mask = 0; mask < 8; ++mask) {
    const auto operand = [&](unsigned bit, std::int64_t one) {
      return (mask >> bit & 1u) != 0 ? many : std::vector<std::int64_t>{one};
    };
    const std::vector<std::int64_t> x = operand(0, 7);
    const std::vector<std::int64_t> y = operand(1, 9);
    const std::vector<std::int64_t> n = operand(2, 11);
    const Integers xs(x);
    const Integers ys(y);
    const Integers ns(n);
    Integers result(many);
    const PlanPointer plan = make_plan(plan_options(MM_OP_MULMOD));
    const mm_call call = make_call(xs.view(), ys.view(), ns.view(), result.result());
    ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
    for (std::size_t i = 0; i < many.size(); ++i) {
      const auto at = [i](const std::vector<std::int64_t>& v) { return v[v.size() == 1 ? 0 : i]; };
      EXPECT_EQ(result.value(i), python_mod(at(x) * at(y), at(n))) << "mask " << mask << " item " << i;
    }
  }
}

// Moduli of exactly the plan's width, and one bit wider.
TEST(Items, PlanWidthIsAnExactBound) {
  for (const std::size_t bits : {1u, 2u, 63u, 64u, 65u, 128u, 1000u}) {
    const std::size_t width = bits / 64 + 2;
    Limbs n(2 * width, 0);
    n[(bits - 1) / 64] |= std::uint64_t{1} << ((bits - 1) % 64);
    n[width + bits / 64] |= std::uint64_t{1} << (bits % 64);
    n[0] |= 1;
    n[width] |= 1;
    const Limbs x{5};
    Limbs result(2 * width, 9);
    std::vector<std::uint8_t> statuses(2);
    const PlanPointer plan = make_plan(plan_options(MM_OP_NEGMOD, MM_TIMING_PUBLIC, bits));
    const mm_call call = make_call({x.data(), 1, 1, 0, nullptr}, {}, {n.data(), 2, width, 0, nullptr},
                                   {result.data(), 2, width, 0, nullptr}, statuses.data());
    EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ITEMS) << bits;
    EXPECT_EQ(statuses[0], MM_OK) << bits;
    EXPECT_EQ(statuses[1], MM_ITEM_MODULUS_TOO_WIDE) << bits;
  }
}

// The widest modulus, with a result array that is wider still and must be zero-extended.
TEST(Items, WidestModulus) {
  constexpr std::size_t kWidth = MM_MAX_MODULUS_BITS / 64;
  const Limbs n(kWidth, ~std::uint64_t{0});
  const Limbs x{2};
  Limbs result(kWidth + 3, 9);
  for (const mm_variant_info& variant : usable_variants()) {
    mm_plan_options options = plan_options(MM_OP_INVMOD, MM_TIMING_PUBLIC, MM_MAX_MODULUS_BITS);
    if (!serves(variant, options)) continue;
    options.variant = variant.name;
    const PlanPointer plan = make_plan(options);
    const mm_call call = make_call({x.data(), 1, 1, 0, nullptr}, {}, {n.data(), 1, kWidth, 0, nullptr},
                                   {result.data(), 1, kWidth + 3, 0, nullptr});
    ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
    Limbs expected(kWidth + 3, 0);  // 1/2 mod 2^16384 - 1 = 2^16383
    expected[kWidth - 1] = std::uint64_t{1} << 63;
    EXPECT_EQ(result, expected) << variant.name;
  }
}

}  // namespace
}  // namespace manymod::testing
