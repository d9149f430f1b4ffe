// SPDX-License-Identifier: Apache-2.0
#include "modexp/windows.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "modexp/recoding.hpp"
#include "modexp/windows.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"
#include "support/naive.hpp"
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

/// The definition, for every exponent below 2^12 and every width; and the digits are as sparse as it states.
TEST(WidthNaf, EveryExponentUpTo4095WithEveryWidth) {
  for (std::size_t width = recoding::kMinNafWidth; width <= recoding::kMaxNafWidth; ++width) {
    for (Limb exponent = 0; exponent < 4096; ++exponent) {
      const std::vector<std::int8_t> digits = width_naf({&exponent, 1}, width);
      std::int64_t sum = 0;
      std::size_t next = 0;  // where a digit may be other than 0 again
      for (std::size_t i = 0; i < digits.size(); ++i) {
        sum += std::int64_t{digits[i]} * (std::int64_t{1} << i);
        if (digits[i] == 0) continue;
        ASSERT_NE(digits[i] % 2, 0);
        ASSERT_LT(std::abs(int{digits[i]}), 1 << (width - 1));
        ASSERT_GE(i, next) << exponent;
        next = i + width;
      }
      ASSERT_EQ(sum, static_cast<std::int64_t>(exponent)) << "width " << width;
      ASSERT_TRUE(digits.empty() || digits.back() > 0);
    }
  }
}

/// Exponents of several limbs: the digits add up to them, a carry out of all of their bits included.
TEST(WidthNaf, LongExponents) {
  naive::Generator generate(5);
  for (std::size_t round = 0; round < 200; ++round) {
    const Limbs exponent = round == 0 ? Limbs(5, ~Limb{0}) : generate.number(5);
    for (std::size_t width = recoding::kMinNafWidth; width <= recoding::kMaxNafWidth; ++width) {
      const std::vector<std::int8_t> digits = width_naf(exponent, width);
      ASSERT_LE(digits.size(), limbs::bit_length_var(exponent) + 1);
      // From the top: value = 2 value + digit.
      Limbs value(6, 0);
      for (std::size_t i = digits.size(); i-- > 0;) {
        limbs::shift_left(value, value, 1);
        Limbs digit(6, digits[i] < 0 ? ~Limb{0} : 0);
        digit[0] = static_cast<Limb>(std::int64_t{digits[i]});
        limbs::add(value, value, digit);
      }
      ASSERT_EQ(value.back(), 0U);
      value.pop_back();
      ASSERT_EQ(value, exponent) << "width " << width;
    }
  }
}

/// Kernels read exponents as 32-bit words: the digits are those of the host.
TEST(Recoding, WordsAndLimbsGiveTheSameDigits) {
  naive::Generator generate(6);
  for (std::size_t round = 0; round < 100; ++round) {
    const Limbs exponent = generate.number(3);
    const naive::Digits digits_of_exponent = naive::digits(exponent);
    const integers::Words words(digits_of_exponent.data(), static_cast<unsigned>(digits_of_exponent.size()));
    const windows::WordBits<integers::Words> of_words{words};
    const recoding::LimbBits of_limbs(exponent);
    for (unsigned width = recoding::kMinNafWidth; width <= recoding::kMaxNafWidth; ++width) {
      std::vector<std::int8_t> digits(3 * kLimbBits + 1, 0);
      const unsigned positions = recoding::signed_sliding_digits(
          of_words, 3 * kLimbBits, width,
          [&](unsigned i, std::int32_t digit) { digits[i] = static_cast<std::int8_t>(digit); });
      digits.resize(positions);
      ASSERT_EQ(digits, width_naf(exponent, width));
      for (unsigned left = 3 * kLimbBits; left > 0;) {
        const recoding::SlidingDigit a = recoding::top_sliding_digit(of_words, left, width);
        const recoding::SlidingDigit b = recoding::top_sliding_digit(of_limbs, left, width);
        ASSERT_EQ(a.count, b.count);
        ASSERT_EQ(a.value, b.value);
        left -= a.count;
      }
      for (unsigned row = 0; row < 20; ++row) {
        ASSERT_EQ(recoding::comb_digit(of_words, width, 20, row),
                  recoding::comb_digit(of_limbs, width, 20, row));
      }
    }
  }
}

TEST(Recoding, FixedWindowsCoverTheirBits) {
  for (unsigned bits = 1; bits < 40; ++bits) {
    for (unsigned width = 1; width <= 9; ++width) {
      const recoding::Window top = recoding::top_window(bits, width);
      ASSERT_EQ(top.first % width, 0U);
      ASSERT_EQ(top.first + top.count, bits);
      ASSERT_TRUE(top.count >= 1 && top.count <= width);
    }
  }
}

}  // namespace
}  // namespace manymod
