// SPDX-License-Identifier: Apache-2.0
// The thread pool: chunks, ticks, exceptions, stops, concurrent and nested calls, forks.
#include "core/thread_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/cpu_features.hpp"

#if defined(__unix__)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace manymod::testing {
namespace {

TEST(ThreadPool, EachChunkRunsOnce) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    for (const std::size_t chunks : {0u, 1u, 2u, 1000u}) {
      std::vector<std::atomic<int>> runs(chunks);
      std::atomic<bool> stop{false};
      ThreadPool::of_this_process().run(
          threads, chunks, [&](std::size_t chunk, const StopToken&) { ++runs[chunk]; }, stop, {});
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

// Bodies that wait for each other can finish only if all of them run at once.
TEST(ThreadPool, ExactlyTheRequestedNumberOfThreads) {
  constexpr unsigned kThreads = 6;
  std::mutex mutex;
  std::condition_variable changed;
  unsigned arrived = 0;
  std::set<std::thread::id> ids;
  std::atomic<bool> stop{false};
  const auto meet = [&](std::size_t, const StopToken&) {
    std::unique_lock lock(mutex);
    ids.insert(std::this_thread::get_id());
    ++arrived;
    changed.notify_all();
    changed.wait(lock, [&] { return arrived >= kThreads; });
  };
  ThreadPool::of_this_process().run(kThreads, 200, meet, stop, {});
  EXPECT_EQ(ids.size(), kThreads);
  EXPECT_EQ(ids.count(std::this_thread::get_id()), 1u);
}

TEST(ThreadPool, ExceptionsReachTheCaller) {
  std::atomic<bool> stop{false};
  std::atomic<int> runs{0};
  const auto fail_at_ten = [&](std::size_t chunk, const StopToken&) {
    ++runs;
    if (chunk == 10) throw std::bad_alloc();
  };
  EXPECT_THROW(ThreadPool::of_this_process().run(2, 1'000'000, fail_at_ten, stop, {}), std::bad_alloc);
  EXPECT_LT(runs, 1'000'000);
  std::atomic<bool> fresh{false};
  std::atomic<int> after{0};
  ThreadPool::of_this_process().run(2, 50, [&](std::size_t, const StopToken&) { ++after; }, fresh, {});
  EXPECT_EQ(after, 50);
}

// The calling thread has no work left and waits for a worker that is still computing.
TEST(ThreadPool, TicksComeWhileTheCallerWaits) {
  std::atomic<bool> stop{false};
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> worker_began{false};
  const auto body = [&](std::size_t, const StopToken& token) {
    if (std::this_thread::get_id() == caller) {
      while (!worker_began) std::this_thread::yield();
      return;
    }
    worker_began = true;
    while (!token.requested()) std::this_thread::yield();
  };
  int ticks = 0;
  ThreadPool::of_this_process().run(2, 2, body, stop, [&] { return ++ticks == 2; });
  EXPECT_EQ(ticks, 2);
}

TEST(ThreadPool, TicksComeOnTheCallingThreadAndStop) {
  std::atomic<bool> stop{false};
  const auto caller = std::this_thread::get_id();
  int ticks = 0;
  const auto spin = [&](std::size_t, const StopToken& token) {
    while (!token.requested()) std::this_thread::yield();
  };
  const auto tick = [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return ++ticks == 2;
  };
  ThreadPool::of_this_process().run(2, 100, spin, stop, tick);
  EXPECT_EQ(ticks, 2);
  EXPECT_TRUE(stop);
}

// A call within a tick needs workers while the outer call still holds its own workers.
TEST(ThreadPool, CallsInsideATick) {
  std::atomic<bool> stop{false};
  std::atomic<int> inner_runs{0};
  const auto spin = [&](std::size_t, const StopToken& token) {
    while (!token.requested()) std::this_thread::yield();
  };
  const auto tick = [&] {
    std::atomic<bool> inner_stop{false};
    ThreadPool::of_this_process().run(2, 20, [&](std::size_t, const StopToken&) { ++inner_runs; }, inner_stop,
                                      {});
    return true;
  };
  ThreadPool::of_this_process().run(2, 2, spin, stop, tick);
  EXPECT_EQ(inner_runs, 20);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  std::atomic<int> runs{0};
  std::vector<std::thread> callers;
  callers.reserve(8);
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        std::atomic<bool> stop{false};
        ThreadPool::of_this_process().run(3, 10, [&](std::size_t, const StopToken&) { ++runs; }, stop, {});
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(runs, 8 * 50 * 10);
}

#if defined(__unix__)

TEST(ThreadPool, ForkedChildrenGetTheirOwn) {
  ThreadPool* parents = &ThreadPool::of_this_process();
  std::atomic<bool> stop{false};
  parents->run(2, 10, [](std::size_t, const StopToken&) {}, stop, {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> runs{0};
    ThreadPool& own = ThreadPool::of_this_process();
    own.run(2, 10, [&](std::size_t, const StopToken&) { ++runs; }, stop, {});
    _exit(&own != parents && runs == 10 ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_TRUE(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
  EXPECT_EQ(&ThreadPool::of_this_process(), parents);
}

// In a forked child, whose pool is new. Every caller computes until all callers have begun, so a pool that
// started workers for each call would reveal more threads.
TEST(ThreadPool, ManyCallersShareTheWorkersOfOne) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const unsigned threads = std::max(4u, usable_cpu_count());
    constexpr unsigned kCallers = 5;
    std::mutex mutex;
    std::set<std::thread::id> ids;
    std::atomic<unsigned> callers_begun{0};
    const auto call = [&] {
      std::atomic<bool> stop{false};
      std::atomic<bool> begun{false};
      const auto body = [&](std::size_t, const StopToken&) {
        if (!begun.exchange(true)) ++callers_begun;
        while (callers_begun < kCallers) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const std::lock_guard lock(mutex);
        ids.insert(std::this_thread::get_id());
      };
      ThreadPool::of_this_process().run(threads, std::size_t{4} * threads, body, stop, {});
    };
    std::vector<std::thread> callers;
    for (unsigned i = 0; i < kCallers; ++i) callers.emplace_back(call);
    for (std::thread& caller : callers) caller.join();
    _exit(ids.size() <= kCallers + threads - 1 ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_TRUE(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
}

TEST(ThreadPool, WorkersLeaveSignalsToTheApplication) {
  std::atomic<bool> stop{false};
  std::atomic<bool> blocked{false};
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> seen{false};
  const auto look = [&](std::size_t, const StopToken&) {
    if (std::this_thread::get_id() == caller) {
      while (!seen) std::this_thread::yield();
      return;
    }
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked = sigismember(&mask, SIGINT) == 1;
    seen = true;
  };
  ThreadPool::of_this_process().run(2, 2, look, stop, {});
  EXPECT_TRUE(blocked);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGINT), 0);
}

#endif

}  // namespace
}  // namespace manymod::testing
