// SPDX-License-Identifier: Apache-2.0
// The size of batches that a service waits for, and the quantiles that it reports.
#include "service/pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "service/histogram.hpp"
#include "support/naive.hpp"

namespace manymod::testing {
namespace {

using service::Clock;
using service::Histogram;
using service::Pace;
using std::chrono::microseconds;

constexpr Clock::time_point kStart{std::chrono::hours(1)};

/// Requests at an even distance for a second; when the last one arrived.
Clock::time_point arrive(Pace& pace, std::size_t a_second) {
  Clock::time_point now = kStart;
  for (std::size_t i = 0; i < a_second; ++i) {
    now += std::chrono::nanoseconds(1'000'000'000 / a_second);
    pace.arrived(1, now);
  }
  return now;
}

/// When the requests of arrive() have arrived. A size that was measured once may be tried again at once.
void compute_twice(Pace& pace, std::size_t size, Clock::duration time) {
  for (int i = 0; i < 2; ++i) pace.computed(size, time, kStart + std::chrono::seconds(1));
}

/// As on vector units: up to eight requests take as long as one.
void compute_lanes(Pace& pace) {
  for (std::size_t size = 1; size <= 64; size *= 2) {
    compute_twice(pace, size, microseconds(800) * std::max<std::size_t>(1, size / 8));
  }
}

TEST(Pace, WaitsForNobodyWhileItKeepsUp) {
  Pace pace(1);
  EXPECT_EQ(pace.wanted(Clock::now()), 1U);
  compute_lanes(pace);
  EXPECT_EQ(pace.wanted(arrive(pace, 700)), 1U);  // 0.56 of the time
}

TEST(Pace, WaitsForAsManyAsKeepUp) {
  // 800 us / b for each request: r 800 us / b <= 0.7.
  for (const auto& [a_second, wanted] : {std::pair{1'000U, 2U}, {3'000U, 4U}, {5'000U, 8U}}) {
    Pace pace(1);
    compute_lanes(pace);
    EXPECT_EQ(pace.wanted(arrive(pace, a_second)), wanted) << a_second;
  }
}

TEST(Pace, MoreAtATimeNeedSmallerBatches) {
  for (const auto& [a_second, wanted] : {std::pair{3'000U, 1U}, {12'000U, 4U}}) {
    Pace pace(4);
    compute_lanes(pace);
    EXPECT_EQ(pace.wanted(arrive(pace, a_second)), wanted) << a_second;
  }
}

TEST(Pace, OverloadedTakesTheBestSizeAndTriesTheNext) {
  Pace pace(1);
  compute_lanes(pace);
  const Clock::time_point now = arrive(pace, 50'000);
  EXPECT_EQ(pace.wanted(now), 8U);
  EXPECT_EQ(pace.most(now), 255U);  // all of the octave above 64
  Pace slow(1);
  slow.computed(1, std::chrono::seconds(1), kStart);
  EXPECT_EQ(slow.most(arrive(slow, 50'000)), 1U);  // two seconds are too long for a trial
}

/// A GPU computes up to 511 requests one way, in 8 us each, and more of them another way, faster the more
/// there are. The first batch of the other way loads kernels.
TEST(Pace, OneSlowBatchIsNotTheLastOfItsSize) {
  Pace pace(1);
  Clock::time_point now = arrive(pace, 500'000);
  for (std::size_t size = 1; size <= 256; size *= 2) pace.computed(size, microseconds(8 * size), now);
  pace.computed(512, std::chrono::milliseconds(60), now);
  std::size_t most = 0;
  for (int batch = 0; batch < 2000; ++batch) {
    most = pace.most(now);
    const auto size = static_cast<std::size_t>(std::bit_floor(most));
    const auto time = size < 512 ? microseconds(8 * size) : microseconds(4000 + size / 2);
    for (std::size_t i = 0; i < 100; ++i) pace.arrived(size / 50 + 1, now += time / 100);
    pace.computed(size, time, now);
  }
  EXPECT_GE(most, 16384U);
}

TEST(Pace, TrialsTakeASmallShareOfTheTime) {
  Pace pace(1);
  Clock::time_point now = arrive(pace, 50'000);
  std::size_t tried = 0, all = 0;
  for (int batch = 0; batch < 20'000; ++batch) {
    const auto size = static_cast<std::size_t>(std::bit_floor(pace.most(now)));
    const auto time = microseconds(800) * std::max<std::size_t>(1, size / 8);
    pace.arrived(2 * size, now += time);
    pace.computed(size, time, now);
    all += size;
    if (size > 8) tried += size;
  }
  EXPECT_GT(tried, 0U);
  EXPECT_LT(tried, all / 20);
}

TEST(Pace, TriesWhatMayPay) {
  Pace pace(1);
  EXPECT_EQ(pace.most(kStart), 3U);
  pace.computed(1, microseconds(800), kStart);
  EXPECT_EQ(pace.most(kStart), 3U);
  pace.computed(3, microseconds(800), kStart);
  EXPECT_EQ(pace.most(kStart), 7U);
}

TEST(Pace, TakesNoMoreThanPays) {
  Pace pace(1);
  compute_lanes(pace);
  EXPECT_EQ(pace.most(arrive(pace, 100)), 15U);  // the octave of 8
}

/// A machine on which threads wait for processors as long as they run.
void saturate(Pace& pace) {
  for (int i = 0; i < 10; ++i) pace.waited_for_processor(0.5);
}

TEST(Pace, SavesTimeWhereProcessorsAreScarce) {
  Pace pace(1);
  compute_lanes(pace);
  Clock::time_point now = arrive(pace, 700);
  pace.outstanding(16, now);
  EXPECT_EQ(pace.wanted(now), 1U);
  saturate(pace);
  EXPECT_EQ(pace.wanted(now), 8U);
  for (int i = 0; i < 20; ++i) pace.waited_for_processor(0);
  EXPECT_EQ(pace.wanted(now), 1U);
}

TEST(Pace, WaitsForNoMoreThanThereAre) {
  Pace pace(1);
  compute_lanes(pace);
  saturate(pace);
  Clock::time_point now = arrive(pace, 700);
  EXPECT_EQ(pace.wanted(now), 1U);
  pace.outstanding(5, now);
  pace.outstanding(2, now);
  EXPECT_EQ(pace.wanted(now), 5U);
  EXPECT_EQ(pace.wanted(now + std::chrono::seconds(1)), 1U);
}

TEST(Pace, TriesWhatThereIsCompanyFor) {
  Pace pace(1);
  saturate(pace);
  Clock::time_point now = arrive(pace, 700);
  compute_twice(pace, 1, microseconds(400));
  pace.outstanding(9, now);
  EXPECT_EQ(pace.wanted(now), 2U);
  compute_twice(pace, 2, microseconds(1000));  // worse than one alone: four may still be better
  EXPECT_EQ(pace.wanted(now), 4U);
  compute_twice(pace, 4, microseconds(1000));
  EXPECT_EQ(pace.wanted(now), 8U);
  compute_twice(pace, 8, microseconds(1000));
  EXPECT_EQ(pace.wanted(now), 8U);  // sixteen are not there
}

TEST(Pace, ForgetsTheRate) {
  Pace pace(1);
  compute_lanes(pace);
  const Clock::time_point now = arrive(pace, 5'000);
  EXPECT_EQ(pace.wanted(now), 8U);
  EXPECT_EQ(pace.wanted(now + std::chrono::milliseconds(100)), 1U);
}

TEST(Histogram, QuantilesAreWithinAnEighth) {
  naive::Generator generate(7);
  std::vector<std::uint64_t> times;
  Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0U);
  for (std::size_t i = 0; i < 2000; ++i) {
    times.push_back(generate.below(UINT64_MAX) >> (1 + generate.below(62)));
    histogram.add(std::chrono::nanoseconds(times.back()));
  }
  std::sort(times.begin(), times.end());
  EXPECT_EQ(histogram.max(), times.back());
  for (const double share : {0.001, 0.25, 0.5, 0.95, 0.99, 1.0}) {
    const std::uint64_t exact = times[static_cast<std::size_t>(std::ceil(share * 2000)) - 1];
    EXPECT_GE(histogram.quantile(share), exact);
    EXPECT_LE(histogram.quantile(share), exact + exact / 8);
  }
}

TEST(Histogram, CountsSeveralAtOnce) {
  Histogram histogram;
  histogram.add(std::chrono::nanoseconds(5), 99);
  histogram.add(std::chrono::nanoseconds(-3));
  histogram.add(std::chrono::nanoseconds(1000));
  EXPECT_EQ(histogram.quantile(0.009), 0U);
  EXPECT_EQ(histogram.quantile(0.5), 5U);
  EXPECT_EQ(histogram.quantile(1), 1000U);
}

}  // namespace
}  // namespace manymod::testing
