// SPDX-License-Identifier: Apache-2.0
// Values that are computed on first use: once as far as callers can see, by several threads and in forked
// children.
#include "core/published_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

TEST(PublishedOnce, ThreadsSeeOneValue) {
  constexpr int kThreads = 4;
  const PublishedOnce<int> value;
  std::atomic<int> made{0};
  std::vector<const int*> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      seen[static_cast<std::size_t>(t)] = value.get([&] { return std::make_unique<const int>(++made); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int* one : seen) EXPECT_EQ(one, seen.front());
  EXPECT_TRUE(value.has_value());
  EXPECT_EQ(value.get([] { return std::make_unique<const int>(0); }), seen.front());
}

// Not with sanitizers: their allocators may be locked in the child.
#if !defined(MANYMOD_SANITIZED)

/// The child is forked while another thread computes the value of a static object.
TEST(PublishedForever, AForkedChildComputesItsOwn) {
  static constinit PublishedForever<int> value;
  std::atomic<bool> computing{false}, forked{false};
  std::thread other([&] {
    value.get([&] {
      computing = true;
      computing.notify_one();
      forked.wait(false);
      return std::make_unique<const int>(1);
    });
  });
  computing.wait(false);
  EXPECT_TRUE(true_in_child([] { return *value.get([] { return std::make_unique<const int>(2); }) == 2; }));
  forked = true;
  forked.notify_one();
  other.join();
  EXPECT_EQ(*value.get([] { return std::make_unique<const int>(3); }), 1);
}

#endif

}  // namespace
}  // namespace manymod::testing
