// SPDX-License-Identifier: Apache-2.0
#include "modexp/windows.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "support/small_field.hpp"

namespace manymod {
namespace {

using test::SmallField;
using Limbs = std::vector<Limb>;

constexpr Limb kPrime = 251;

TEST(FixedWindow, EveryExponentUpTo1023WithEveryWidth) {
  const SmallField field(kPrime);
  for (std::size_t width = 1; width <= 6; ++width) {
    Limbs workspace(fixed_window_workspace(field, width));
    for (Limb exponent = 0; exponent < 1024; ++exponent) {
      const std::span<const Limb> exponents[] = {{&exponent, 1}};
      for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
        Limb r = 0;
        const Limb base = 6;
        ASSERT_TRUE(fixed_window_power(field, &r, &base, exponents, 10, width, timing, workspace.data(), {}));
        ASSERT_EQ(r, field.power(base, exponent)) << exponent << " width " << width;
      }
    }
  }
}

TEST(FixedWindow, LanesHaveTheirOwnExponents) {
  const SmallField field(kPrime, 3);
  const Limbs exponent = {0, 777, 255};
  const std::span<const Limb> exponents[] = {{&exponent[0], 1}, {&exponent[1], 1}, {&exponent[2], 1}};
  Limbs workspace(fixed_window_workspace(field, 4));
  const Limbs base = {2, 3, 5};
  Limbs r(3);
  ASSERT_TRUE(fixed_window_power(field, r.data(), base.data(), exponents, 10, 4, TimingClass::public_,
                                 workspace.data(), {}));
  EXPECT_EQ(r, (Limbs{field.power(2, 0), field.power(3, 777), field.power(5, 255)}));
}

TEST(FixedWindow, SecretExponentsOfOneLengthCostTheSame) {
  const std::size_t width = 5;
  std::vector<std::size_t> operations;
  for (const Limb exponent : {Limb{0}, Limb{1}, ~Limb{0}, Limb{1} << 63}) {
    const SmallField field(kPrime);
    const std::span<const Limb> exponents[] = {{&exponent, 1}};
    Limbs workspace(fixed_window_workspace(field, width));
    Limb r = 0;
    const Limb base = 7;
    ASSERT_TRUE(fixed_window_power(field, &r, &base, exponents, 64, width, TimingClass::secret,
                                   workspace.data(), {}));
    operations.push_back(field.multiplications * 1000000 + field.squarings * 1000 + field.entries_scanned);
  }
  for (const std::size_t count : operations) EXPECT_EQ(count, operations.front());
}

TEST(FixedWindow, WidthMinimisesTheCount) {
  EXPECT_EQ(fixed_window_width(1, 0), 1U);
  EXPECT_EQ(fixed_window_width(256, 0), 4U);
  EXPECT_EQ(fixed_window_width(2048, 0), 6U);
  EXPECT_LT(fixed_window_width(2048, 0.05), fixed_window_width(2048, 0));
}

TEST(SlidingWindow, EveryExponentUpTo4095WithEveryWidth) {
  const SmallField field(kPrime);
  for (std::size_t width = 1; width <= 6; ++width) {
    for (Limb exponent = 0; exponent < 4096; ++exponent) {
      const SlidingSchedule schedule = sliding_schedule({&exponent, 1}, width);
      ASSERT_LE(schedule.table_entries, std::size_t{1} << (width - 1));
      Limbs workspace(sliding_window_workspace(field, schedule));
      Limb r = 0;
      const Limb base = 6;
      ASSERT_TRUE(sliding_window_power(field, &r, &base, schedule, workspace.data(), {}));
      ASSERT_EQ(r, field.power(base, exponent)) << exponent << " width " << width;
    }
  }
}

TEST(SlidingWindow, SixtyFiveThousandFiveHundredThirtySevenCostsSixteenSquaringsAndOneMultiplication) {
  const Limb exponent = 65537;
  const SlidingSchedule schedule = best_sliding_schedule({&exponent, 1});
  const SmallField field(kPrime);
  Limbs workspace(sliding_window_workspace(field, schedule));
  Limb r = 0;
  const Limb base = 9;
  ASSERT_TRUE(sliding_window_power(field, &r, &base, schedule, workspace.data(), {}));
  EXPECT_EQ(r, field.power(base, exponent));
  EXPECT_EQ(field.squarings, 16U);
  EXPECT_EQ(field.multiplications, 1U);
}

TEST(SlidingWindow, CountsWhatItDoes) {
  for (const Limb exponent : {Limb{1}, Limb{3}, Limb{0xDEADBEEFCAFE}, ~Limb{0}}) {
    const SlidingSchedule schedule = best_sliding_schedule({&exponent, 1});
    const SmallField field(kPrime);
    Limbs workspace(sliding_window_workspace(field, schedule));
    Limb r = 0;
    const Limb base = 3;
    ASSERT_TRUE(sliding_window_power(field, &r, &base, schedule, workspace.data(), {}));
    EXPECT_LE(field.squarings + field.multiplications, schedule.operations());
  }
}

TEST(Windows, ARequestedStopEndsThem) {
  const std::atomic<bool> flag{true};
  const StopToken stop(&flag);
  const SmallField field(kPrime);
  const Limb exponent = ~Limb{0};
  const std::span<const Limb> exponents[] = {{&exponent, 1}};
  Limb r = 0;
  const Limb base = 3;
  Limbs workspace(fixed_window_workspace(field, 4));
  EXPECT_FALSE(
      fixed_window_power(field, &r, &base, exponents, 64, 4, TimingClass::public_, workspace.data(), stop));
  const SlidingSchedule schedule = best_sliding_schedule({&exponent, 1});
  workspace.resize(sliding_window_workspace(field, schedule));
  EXPECT_FALSE(sliding_window_power(field, &r, &base, schedule, workspace.data(), stop));
}

}  // namespace
}  // namespace manymod
