// SPDX-License-Identifier: Apache-2.0
// Powers of a fixed base through the C ABI: invalid options and calls, limits of exponents, cancellation,
// variants.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan_helpers.hpp"
#include "small_integers.hpp"

namespace manymod::testing {
namespace {

class FixedBase : public ::testing::Test {
 protected:
  FixedBase() {
    options_.struct_size = sizeof options_;
    options_.exponent_bits = 100;
  }

  mm_status create(const mm_view& base, const mm_view& modulus) {
    int elsewhere = 0;
    auto* created = reinterpret_cast<mm_fixed_base*>(&elsewhere);
    const mm_status status = mm_fixed_base_create(&options_, &base, &modulus, &created);
    EXPECT_EQ(status == MM_OK, created != nullptr);
    fixed_base_.reset(created);
    return status;
  }
  mm_status create(std::int64_t base, std::int64_t modulus) {
    return create(Integers({base}).view(), Integers({modulus}).view());
  }

  mm_fixed_base_options options_{};
  FixedBasePointer fixed_base_;
};

TEST_F(FixedBase, BadModuli) {
  EXPECT_EQ(create(3, 0), MM_ERR_ARGUMENT);
  EXPECT_EQ(create(3, 10), MM_OK) << mm_last_error();
  options_.timing = MM_TIMING_SECRET;
  EXPECT_EQ(create(3, 10), MM_ERR_ARGUMENT);
  EXPECT_EQ(create(3, 11), MM_OK) << mm_last_error();
  const std::vector<std::uint64_t> wide(MM_MAX_MODULUS_BITS / 64 + 1, 1);
  EXPECT_EQ(create(Integers({3}).view(), {wide.data(), 1, wide.size(), 0, nullptr}), MM_ERR_ARGUMENT);
}

TEST_F(FixedBase, BadOptions) {
  options_.exponent_bits = 0;
  EXPECT_EQ(create(3, 11), MM_ERR_ARGUMENT);
  options_.exponent_bits = SIZE_MAX;
  EXPECT_EQ(create(3, 11), MM_ERR_ARGUMENT);
  options_.exponent_bits = 64;
  options_.struct_size = 8;
  EXPECT_EQ(create(3, 11), MM_ERR_ARGUMENT);
  options_.struct_size = sizeof options_;
  options_.variant = "nonesuch";
  EXPECT_EQ(create(3, 11), MM_ERR_UNKNOWN_VARIANT);
  options_.variant = nullptr;
  options_.device = "cuda:1000";
  EXPECT_EQ(create(3, 11), MM_ERR_UNKNOWN_DEVICE);
  options_.device = nullptr;
  EXPECT_EQ(create(Integers({3, 4}).view(), Integers({11}).view()), MM_ERR_ARGUMENT);
  EXPECT_EQ(create(Integers({3}).view(), Integers({11, 12}).view()), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_fixed_base_create(&options_, nullptr, nullptr, nullptr), MM_ERR_NULL);
}

TEST_F(FixedBase, TooManyThreads) {
  options_.threads = 1024;
  EXPECT_EQ(create(3, 11), MM_OK) << mm_last_error();
  options_.threads = 5000;
  EXPECT_EQ(create(3, 11), MM_ERR_ARGUMENT);
  EXPECT_STREQ(mm_last_error(), "threads is 5000, expected 0 to 1024");
}

struct Ticks {
  int count = 0;
  bool right_numbers = true;
};

int stop_at_second(std::size_t done, std::size_t total, void* user) {
  auto* ticks = static_cast<Ticks*>(user);
  ticks->right_numbers = ticks->right_numbers && done == 0 && total == 1;
  return ++ticks->count == 2 ? 1 : 0;
}

// A comb of a million squarings modulo the widest modulus takes far longer than two ticks on any machine.
TEST_F(FixedBase, CreationCanBeStopped) {
  const std::vector<std::uint64_t> modulus(MM_MAX_MODULUS_BITS / 64, ~std::uint64_t{0});
  options_.exponent_bits = std::size_t{1} << 20;
  options_.progress = stop_at_second;
  for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
    options_.timing = timing;
    Ticks ticks;
    options_.progress_user = &ticks;
    EXPECT_EQ(create(Integers({3}).view(), {modulus.data(), 1, modulus.size(), 0, nullptr}),
              MM_ERR_CANCELLED);
    EXPECT_EQ(std::string(mm_last_error()).rfind("cancelled", 0), 0u) << mm_last_error();
    EXPECT_EQ(ticks.count, 2);
    EXPECT_TRUE(ticks.right_numbers);
  }
}

TEST_F(FixedBase, ModulusOneGivesZero) {
  for (const std::int64_t modulus : {1, -1}) {
    ASSERT_EQ(create(3, modulus), MM_OK) << mm_last_error();
    Integers result({7, 7});
    const Integers y({5, -5});
    const mm_call call = make_call({}, y.view(), {}, result.result());
    EXPECT_EQ(mm_fixed_base_powmod(fixed_base_.get(), &call), MM_OK);
    EXPECT_EQ(result.value(0), 0);
    EXPECT_EQ(result.value(1), 0);
  }
}

TEST_F(FixedBase, ExponentsWiderThanTheComb) {
  options_.exponent_bits = 64;
  ASSERT_EQ(create(3, 1'000'003), MM_OK);
  const std::vector<std::uint64_t> y{0, 1};  // 2^64
  Integers result({0});
  const mm_call call = make_call({}, {y.data(), 1, 2, 2, nullptr}, {}, result.result());
  ASSERT_EQ(mm_fixed_base_powmod(fixed_base_.get(), &call), MM_OK) << mm_last_error();
  std::int64_t expected = 3;
  for (int i = 0; i < 64; ++i) expected = expected * expected % 1'000'003;
  EXPECT_EQ(result.value(0), expected);

  options_.timing = MM_TIMING_SECRET;
  ASSERT_EQ(create(3, 1'000'003), MM_OK);
  EXPECT_EQ(mm_fixed_base_powmod(fixed_base_.get(), &call), MM_ERR_ITEMS);
  EXPECT_EQ(result.value(0), 0);
}

// They do not prevent the others.
TEST_F(FixedBase, SecretExponentsThatAreTooWideHaveAStatus) {
  options_.exponent_bits = 64;
  options_.timing = MM_TIMING_SECRET;
  for (const std::int64_t modulus : {1009, 1}) {
    ASSERT_EQ(create(3, modulus), MM_OK) << mm_last_error();
    for (const std::size_t count : {3u, 100u}) {
      std::vector<std::uint64_t> y(3 * count);
      for (std::size_t i = 0; i < count; ++i) {
        y[3 * i] = 10;
        y[3 * i + 1 + i % 2] = i % 3 == 1 ? 1 : 0;
      }
      Integers result(std::vector<std::int64_t>(count, 7));
      std::vector<std::uint8_t> statuses(count, 99);
      const mm_call call =
          make_call({}, {y.data(), count, 3, 0, nullptr}, {}, result.result(), statuses.data());
      EXPECT_EQ(mm_fixed_base_powmod(fixed_base_.get(), &call), MM_ERR_ITEMS);
      EXPECT_NE(std::string(mm_last_error()).find("the first is item 1: the exponent"), std::string::npos);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(statuses[i], i % 3 == 1 ? MM_ITEM_EXPONENT_TOO_WIDE : MM_OK) << i;
        EXPECT_EQ(result.value(i), i % 3 == 1 ? 0 : 59049 % modulus) << i;
      }
    }
  }
}

TEST_F(FixedBase, CallChecks) {
  ASSERT_EQ(create(3, -11), MM_OK);
  Integers result({0, 0});
  const Integers y({5, 6});
  mm_call call = make_call({}, y.view(), {}, result.result());
  EXPECT_EQ(mm_fixed_base_powmod(fixed_base_.get(), &call), MM_OK) << mm_last_error();
  EXPECT_EQ(result.value(0), -10);
  EXPECT_EQ(result.value(1), -8);
  call.result.negative = nullptr;
  EXPECT_EQ(mm_fixed_base_powmod(fixed_base_.get(), &call), MM_ERR_NULL);
  call = make_call({}, {}, {}, result.result());
  EXPECT_EQ(mm_fixed_base_powmod(fixed_base_.get(), &call), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_fixed_base_powmod(nullptr, &call), MM_ERR_NULL);
  EXPECT_EQ(mm_fixed_base_powmod(fixed_base_.get(), nullptr), MM_ERR_NULL);
}

TEST_F(FixedBase, InPlaceOfTheExponents) {
  ASSERT_EQ(create(3, 11), MM_OK);
  Integers y({5, 6, -1});
  const mm_call call = make_call({}, y.view(), {}, y.result());
  EXPECT_EQ(mm_fixed_base_powmod(fixed_base_.get(), &call), MM_OK) << mm_last_error();
  EXPECT_EQ(y.value(0), 1);
  EXPECT_EQ(y.value(1), 3);
  EXPECT_EQ(y.value(2), 4);
}

TEST_F(FixedBase, VariantName) {
  ASSERT_EQ(create(3, 11), MM_OK);
  EXPECT_STRNE(mm_fixed_base_variant(fixed_base_.get()), "");
  EXPECT_STREQ(mm_fixed_base_variant(nullptr), "");
  EXPECT_STREQ(mm_fixed_base_variant_for(nullptr, 1), "");
  EXPECT_STREQ(mm_fixed_base_variant_for(fixed_base_.get(), SIZE_MAX),
               mm_fixed_base_variant(fixed_base_.get()));
}

// The results do not depend on the number of exponents, which selects the variant, nor on whether its comb
// exists already.
TEST_F(FixedBase, EveryNumberOfExponents) {
  ASSERT_EQ(create(3, 1009), MM_OK);
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t count : {17u, 1u, 2u, 5u, 8u, 9u}) {
      Integers y(std::vector<std::int64_t>(count, 10));
      const mm_call call = make_call({}, y.view(), {}, y.result());
      EXPECT_EQ(mm_fixed_base_powmod(fixed_base_.get(), &call), MM_OK) << mm_last_error();
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(y.value(i), 59049 % 1009) << count << " exponents";
    }
  }
}

}  // namespace
}  // namespace manymod::testing
