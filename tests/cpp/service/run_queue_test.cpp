// SPDX-License-Identifier: Apache-2.0
// How long threads wait for processors, as the kernel tells it.
#include "service/run_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace manymod::testing {
namespace {

using service::Clock;
using service::RunQueue;

/// Keep the thread busy until a share is known, a second at most.
std::optional<double> share_of(RunQueue& queue) {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < end) {
    if (const std::optional<double> share = queue.waited_share(Clock::now())) return share;
  }
  return std::nullopt;
}

TEST(RunQueue, IsAShareOnceInAWhile) {
  RunQueue queue;
  const std::optional<double> share = share_of(queue);
  if (!share) GTEST_SKIP() << "this system does not count waiting for processors";
  EXPECT_GE(*share, 0.0);
  EXPECT_LE(*share, 1.0);
  EXPECT_EQ(queue.waited_share(Clock::now() - std::chrono::hours(1)), std::nullopt);
}

#ifdef __linux__
/// Two threads on one processor wait for each other.
TEST(RunQueue, SeesACompetitor) {
  RunQueue known;
  if (!share_of(known)) GTEST_SKIP() << "this kernel counts no waiting for processors";
  std::atomic<bool> done{false};
  double largest = 0;
  std::thread measured([&] {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
    std::thread competitor([&done] {
      while (!done) continue;
    });  // inherits the affinity
    RunQueue queue;
    const Clock::time_point end = Clock::now() + std::chrono::seconds(10);
    while (largest < 0.3 && Clock::now() < end)
      largest = std::max(largest, queue.waited_share(Clock::now()).value_or(0));
    done = true;
    competitor.join();
  });
  measured.join();
  EXPECT_GE(largest, 0.3);
}
#endif

}  // namespace
}  // namespace manymod::testing
