// SPDX-License-Identifier: Apache-2.0
// Batches on the calling thread or on the pool, progress and stopping, with an engine that only records.
#include "exec/batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "recording_engine.hpp"

namespace manymod::testing {
namespace {

class Execution : public ::testing::Test {
 protected:
  static constexpr std::size_t kCount = 100;

  Execution() : moduli_(kCount, 5), results_(kCount, 9), statuses_(kCount) {
    job_.op = Operation::mulmod;
    job_.modulus = {moduli_.data(), kCount, 1, 1, nullptr};
    job_.result = {results_.data(), kCount, 1, 1, nullptr};
    job_.status = statuses_.data();
    moduli_[50] = 0;  // one item that needs no engine
    batch_ = bucket_each(job_, 64);
  }

  [[nodiscard]] std::size_t items_with(ItemStatus status) const {
    return static_cast<std::size_t>(std::count(statuses_.begin(), statuses_.end(), status));
  }

  std::vector<Limb> moduli_, results_;
  std::vector<ItemStatus> statuses_;
  Job job_;
  BucketedBatch batch_;
  std::unique_ptr<RecordingEngine> owned_ = std::make_unique<RecordingEngine>();
  RecordingEngine& engine_ = *owned_;
  EngineSet engines_ = only(std::move(owned_));
};

TEST_F(Execution, ShortCallsStayOnTheCallingThread) {
  engine_.cost_ns_per_limb = 100;
  const auto caller = std::this_thread::get_id();
  engine_.on_item = [caller](std::size_t, const StopToken&) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
  };
  EXPECT_TRUE(compute_batch({engines_}, job_, batch_, 4, {}));
  EXPECT_EQ(engine_.calls().size(), 1u);
  EXPECT_EQ(items_with(ItemStatus::ok), kCount - 1);
}

TEST_F(Execution, OneUnobservedThreadStaysOnTheCallingThread) {
  engine_.cost_ns_per_limb = 1e9;
  const auto caller = std::this_thread::get_id();
  engine_.on_item = [caller](std::size_t, const StopToken&) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
  };
  EXPECT_TRUE(compute_batch({engines_}, job_, batch_, 1, {}));
  EXPECT_EQ(items_with(ItemStatus::ok), kCount - 1);
}

// The calling thread waits in its first item until another thread has begun one.
TEST_F(Execution, LongCallsAreSpread) {
  engine_.cost_ns_per_limb = 1e9;
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> others{false};
  engine_.on_item = [&](std::size_t, const StopToken&) {
    if (std::this_thread::get_id() != caller) others = true;
    while (!others) std::this_thread::yield();
  };
  EXPECT_TRUE(compute_batch({engines_}, job_, batch_, 3, {}));
  EXPECT_GT(engine_.calls().size(), 8u);
  EXPECT_EQ(items_with(ItemStatus::ok), kCount - 1);
}

TEST_F(Execution, MemoryErrorsReachTheCaller) {
  for (const double cost : {1.0, 1e9}) {
    engine_.cost_ns_per_limb = cost;
    engine_.on_item = [](std::size_t item, const StopToken&) {
      if (item == 70) throw std::bad_alloc();
    };
    EXPECT_THROW(compute_batch({engines_}, job_, batch_, 2, {}), std::bad_alloc);
  }
}

struct Ticks {
  std::atomic<int> count{0};
  std::size_t total = 0;
  std::size_t done = 0;
};

int stop_at_second(std::size_t done, std::size_t total, void* user) {
  auto* ticks = static_cast<Ticks*>(user);
  ticks->total = total;
  ticks->done = done;
  return ++ticks->count == 2 ? 1 : 0;
}

TEST_F(Execution, ProgressStopsTheCall) {
  engine_.cost_ns_per_limb = 1e9;
  Ticks ticks;
  engine_.on_item = [](std::size_t item, const StopToken& token) {
    while (item >= 20 && !token.requested()) std::this_thread::yield();
  };
  EXPECT_FALSE(compute_batch({engines_}, job_, batch_, 1, {stop_at_second, &ticks}));
  EXPECT_EQ(ticks.total, kCount);
  EXPECT_EQ(ticks.done, 21u);  // 20 computed, and one that needs no engine
  EXPECT_EQ(ticks.count, 2);
  EXPECT_GT(items_with(ItemStatus::not_computed), 0u);
  EXPECT_EQ(items_with(ItemStatus::zero_modulus), 1u);
}

TEST(DefaultThreads, SetAndRestore) {
  const unsigned initial = default_threads();
  EXPECT_EQ(set_default_threads(5), 5u);
  EXPECT_EQ(default_threads(), 5u);
  EXPECT_EQ(set_default_threads(4'000'000'000u), 1024u);
  EXPECT_EQ(set_default_threads(0), initial);
}

}  // namespace
}  // namespace manymod::testing
