// SPDX-License-Identifier: Apache-2.0
// Tests of the lockstep groups that device code runs with: exchange of values, and detection of divergence.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "arch/cuda/words.cuda.hpp"
#include "support/lockstep.hpp"

namespace manymod::test {
namespace {

template <unsigned kThreads>
void expect_exchange() {
  std::vector<unsigned> order;
  run_lockstep<kThreads>([&](LockstepGroup<kThreads> group) {
    const unsigned lane = group.lane();
    order.push_back(lane);
    for (unsigned round = 0; round < 5; ++round) {
      const std::uint32_t own = 100 * round + lane;
      EXPECT_EQ(group.from_above(own), 100 * round + (lane + 1) % kThreads);
      EXPECT_EQ(group.from_below(std::uint64_t{own} << 32),
                std::uint64_t{100 * round + (lane + kThreads - 1) % kThreads} << 32);
      EXPECT_EQ(group.shuffle(own + 0.5, round), 100 * round + round % kThreads + 0.5);
      const bool condition = (lane * 7 + round) % 3 == 0;
      std::uint32_t expected = 0;
      for (unsigned l = 0; l < kThreads; ++l)
        expected |= static_cast<std::uint32_t>((l * 7 + round) % 3 == 0) << l;
      EXPECT_EQ(group.ballot(condition), expected);
    }
  });
  ASSERT_EQ(order.size(), kThreads);
  for (unsigned lane = 0; lane < kThreads; ++lane) EXPECT_EQ(order[lane], lane);
}

TEST(DeviceLockstep, Exchange) {
  expect_exchange<1>();
  expect_exchange<2>();
  expect_exchange<4>();
  expect_exchange<8>();
  expect_exchange<16>();
  expect_exchange<32>();
}

TEST(DeviceLockstep, SyncOrdersMemory) {
  std::array<unsigned, 8> shared{};
  run_lockstep<8>([&](LockstepGroup<8> group) {
    shared.at(group.lane()) = group.lane() + 1;
    group.sync();
    EXPECT_EQ(shared.at((group.lane() + 3) % 8), (group.lane() + 3) % 8 + 1);
  });
}

/// The message of the exception that `body` ends with; "" if none.
std::string failure_of(void (*body)(LockstepGroup<4>)) {
  try {
    run_lockstep<4>(body);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

void different_operations(LockstepGroup<4> group) {
  if (group.lane() == 2) {
    group.sync();
  } else {
    (void)group.ballot(true);
  }
}

void different_places(LockstepGroup<4> group) {
  if (group.lane() == 3) {  // NOLINT(bugprone-branch-clone): two places to call from are what is tested
    group.sync();
  } else {
    group.sync();
  }
}

void different_sizes(LockstepGroup<4> group) {
  group.lane() == 0 ? (void)group.shuffle(1U, 0) : (void)group.shuffle(1ULL, 0);
}

void absent_lane(LockstepGroup<4> group) {
  if (group.lane() != 1) (void)group.shuffle(1U, 0);
}

TEST(DeviceLockstep, DivergenceIsAnError) {
  for (const auto body : {different_operations, different_places, different_sizes, absent_lane}) {
    EXPECT_NE(failure_of(body).find("diverged"), std::string::npos);
  }
  EXPECT_NE(failure_of(absent_lane).find("lane 1 never synchronized"), std::string::npos);
}

TEST(DeviceLockstep, GroupsOfAWarpExchangeAmongThemselves) {
  run_lockstep_warp<4>(3, [](LockstepGroup<4> group, unsigned index) {
    const std::uint32_t own = 10 * index + group.lane();
    EXPECT_EQ(group.from_above(own), 10 * index + (group.lane() + 1) % 4);
    EXPECT_EQ(group.shuffle(own, 2), 10 * index + 2);
    EXPECT_EQ(group.ballot(index == 1 && group.lane() == 3), index == 1 ? 8U : 0U);
    EXPECT_TRUE(group.any_in_warp(index == 1));
    EXPECT_FALSE(group.any_in_warp(index == 3));
  });
}

// `||` lets the groups whose first operand is true skip the exchange of the second.
TEST(DeviceLockstep, GroupsOfAWarpThatDivergeAreAnError) {
  const auto skips = [](LockstepGroup<2> group, unsigned index) {
    (void)(index == 1 || group.ballot(true) != 0);
    group.sync();
  };
  EXPECT_THROW(run_lockstep_warp<2>(2, skips), LockstepError);
  EXPECT_NO_THROW(run_lockstep_warp<2>(1, skips));
}

TEST(DeviceLockstep, LanesThatEndEarlyAreAnError) {
  for (unsigned early = 0; early < 4; ++early) {
    for (unsigned rounds = 0; rounds < 3; ++rounds) {
      EXPECT_THROW(run_lockstep<4>([=](LockstepGroup<4> group) {
                     for (unsigned i = 0; i < (group.lane() == early ? rounds : 3); ++i) group.sync();
                   }),
                   LockstepError);
    }
  }
}

TEST(DeviceLockstep, ExceptionsOfLanesArePassedOn) {
  for (unsigned thrower = 0; thrower < 4; ++thrower) {
    EXPECT_THROW(run_lockstep<4>([=](LockstepGroup<4> group) {
                   group.sync();
                   if (group.lane() == thrower) throw std::out_of_range("lane");
                   group.sync();
                 }),
                 std::out_of_range);
  }
  run_lockstep<4>([](LockstepGroup<4> group) { group.sync(); });
}

TEST(DeviceLockstep, GroupsDoNotNest) {
  EXPECT_THROW(run_lockstep<2>([](LockstepGroup<2>) { run_lockstep<2>([](LockstepGroup<2>) {}); }),
               LockstepError);
}

TEST(DeviceLockstep, CarryChainsAcrossSyncPointsGoWrong) {
  run_lockstep<2>([](LockstepGroup<2> group) {
    (void)cuda::add_cc(1, 1);
    group.sync();
    EXPECT_NE(cuda::addc(0, 0), 0U);
    EXPECT_NE(cuda::addc(0, 0), 1U);
  });
}

}  // namespace
}  // namespace manymod::test
