// SPDX-License-Identifier: Apache-2.0
// The executor on workloads that only count: what runs where, progress, stopping, and exceptions.
#include "exec/executor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace manymod::testing {
namespace {

// Counts how often each item of each part is computed.
class Counts {
 public:
  explicit Counts(std::span<const WorkPart> parts) {
    for (const WorkPart& part : parts) counts_.emplace_back(part.items);
  }

  void add(const Chunk& chunk) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = chunk.begin; i < chunk.end; ++i) ++counts_.at(chunk.part).at(i);
    ++chunks_;
  }
  void expect_each_once() const {
    for (const auto& part : counts_) {
      for (const int count : part) ASSERT_EQ(count, 1);
    }
  }
  [[nodiscard]] std::size_t chunks() const { return chunks_; }

 private:
  std::mutex mutex_;
  std::vector<std::vector<int>> counts_;
  std::size_t chunks_ = 0;
};

TEST(Executor, EveryItemOfEveryPartOnce) {
  const std::array<WorkPart, 3> parts{uniform_part(1000, 1e4), uniform_part(7, 1e6), uniform_part(50, 0)};
  for (const Schedule schedule : {Schedule{false, 1}, Schedule{true, 1}, Schedule{true, 4}}) {
    Counts counts(parts);
    EXPECT_TRUE(
        execute(parts, schedule, {}, [&](const Chunk& chunk, const StopToken&) { counts.add(chunk); }));
    counts.expect_each_once();
    if (!schedule.on_pool) {
      EXPECT_EQ(counts.chunks(), parts.size());
    }
  }
}

TEST(Executor, ExpensiveItemsAreChunksOfTheirOwn) {
  const WorkPart part = uniform_part(20, kLongestChunkNs);
  Counts counts(std::span(&part, 1));
  execute_on_pool(std::span(&part, 1), 2, {},
                  [&](const Chunk& chunk, const StopToken&) { counts.add(chunk); });
  counts.expect_each_once();
  EXPECT_EQ(counts.chunks(), 20u);
}

TEST(Executor, SchedulesFollowTheCost) {
  EXPECT_FALSE(schedule_for(1e5, 8, 0, true).on_pool);  // too short for anything but the calling thread
  EXPECT_TRUE(schedule_for(1e6, 8, 0, false).on_pool);
  EXPECT_EQ(schedule_for(1e6, 8, 0, false).threads, 8u);
  EXPECT_FALSE(schedule_for(1e9, 1, 0, false).on_pool);
  EXPECT_TRUE(schedule_for(1e9, 1, 0, true).on_pool);  // long and observed: with progress
  EXPECT_FALSE(schedule_for(1e6, 1, 0, true).on_pool);
  EXPECT_EQ(schedule_for(1e9, 0, 0, false).threads, default_threads());
  EXPECT_EQ(schedule_for(1e9, 1, 4, false).threads, 12u);  // three feed each GPU
  EXPECT_EQ(schedule_for(1e9, 64, 4, false).threads, 64u);
}

TEST(Executor, AStopReachesChunksAndEndsTheRun) {
  const WorkPart part = uniform_part(1000, kLongestChunkNs);
  std::atomic<std::size_t> begun{0};
  const StopQuery wants_stop = [](std::size_t done) {
    EXPECT_LE(done, 1000u);
    return true;
  };
  EXPECT_FALSE(execute(std::span(&part, 1), {true, 2}, wants_stop, [&](const Chunk&, const StopToken& stop) {
    ++begun;
    while (!stop.requested_now()) std::this_thread::yield();
  }));
  EXPECT_LE(begun, 2u);
}

TEST(Executor, NothingIsStoppedOnceAllItemsAreDone) {
  const WorkPart part = uniform_part(1, kLongestChunkNs);
  std::size_t asked_at = 0;
  const StopQuery wants_stop = [&asked_at](std::size_t done) {
    asked_at = done;
    return true;
  };
  // The chunk takes longer than a tick and polls nothing, so that the query comes after it.
  EXPECT_TRUE(execute(std::span(&part, 1), {true, 1}, wants_stop, [](const Chunk&, const StopToken&) {
    std::this_thread::sleep_for(2 * kTickInterval);
  }));
  EXPECT_EQ(asked_at, 1u);
}

TEST(Executor, ExceptionsReachTheCaller) {
  const WorkPart part = uniform_part(100, kLongestChunkNs);
  for (const Schedule schedule : {Schedule{false, 1}, Schedule{true, 3}}) {
    EXPECT_THROW(execute(std::span(&part, 1), schedule, {},
                         [](const Chunk&, const StopToken&) { throw std::runtime_error("chunk"); }),
                 std::runtime_error);
  }
}

TEST(Executor, RangesReportTheirPartOfACall) {
  std::vector<std::size_t> reported;
  const mm_progress_fn callback = [](std::size_t done, std::size_t total, void* user) {
    EXPECT_EQ(total, 1000u);
    static_cast<std::vector<std::size_t>*>(user)->push_back(done);
    return 0;
  };
  // The second half of a call of 1000 items.
  const ProgressPart half = ProgressPart{{callback, &reported}, 1000, 0, 1000}.part(0.5, 0.5);
  std::atomic<std::size_t> items{0};
  EXPECT_TRUE(execute_ranges(4, kLongestChunkNs, 1, half,
                             [&](std::size_t begin, std::size_t end, const StopToken& stop) {
                               const auto until = std::chrono::steady_clock::now() + 2 * kTickInterval;
                               while (std::chrono::steady_clock::now() < until) {
                                 static_cast<void>(stop.requested_now());
                                 std::this_thread::yield();
                               }
                               items += end - begin;
                             }));
  EXPECT_EQ(items, 4u);
  ASSERT_FALSE(reported.empty());
  EXPECT_TRUE(std::ranges::is_sorted(reported));
  EXPECT_GE(reported.front(), 500u);
  EXPECT_GT(reported.back(), 500u);
  EXPECT_LE(reported.back(), 1000u);
}

TEST(Progress, AThrowingCallbackRequestsAStop) {
  const Progress throwing{
      [](std::size_t, std::size_t, void*) -> int { throw std::runtime_error("callback"); }, nullptr};
  EXPECT_TRUE(throwing.wants_stop(0, 1));
}

}  // namespace
}  // namespace manymod::testing
