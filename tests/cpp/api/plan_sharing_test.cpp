// SPDX-License-Identifier: Apache-2.0
// A plan for a shared modulus that is used by several threads and by forked children.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "plan_helpers.hpp"
#include "small_integers.hpp"

#if defined(__unix__) && !defined(MANYMOD_SANITIZED)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace manymod::testing {
namespace {

bool right_power(mm_plan* plan, std::int64_t modulus) {
  const Integers x({7});
  const Integers y({2});
  const Integers n({modulus});
  Integers result({0});
  const mm_call call = make_call(x.view(), y.view(), n.view(), result.result());
  return mm_plan_run(plan, &call) == MM_OK && result.value(0) == 49 % modulus;
}

PlanPointer shared_plan() {
  return make_plan(plan_options(MM_OP_POWMOD, MM_TIMING_PUBLIC, 64, MM_MODULUS_SHARED));
}

// Threads that call work(thread, step) repeatedly until finish().
class Busy {
 public:
  template <class Work>
  explicit Busy(Work work) {
    for (int thread = 0; thread < 4; ++thread) {
      threads_.emplace_back([this, work, thread] {
        for (int step = 0; !stop_; ++step) {
          if (!work(thread, step)) ++wrong_;
        }
      });
    }
  }
  ~Busy() { finish(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  /// Stop the threads and return the number of calls that returned false.
  int finish() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
    return wrong_;
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> wrong_{0};
  std::vector<std::thread> threads_;
};

TEST(PlanSharing, ThreadsWithDifferentModuli) {
  const PlanPointer plan = shared_plan();
  Busy others([&plan](int thread, int step) { return right_power(plan.get(), 3 + thread + step % 40); });
  for (int round = 0; round < 2000; ++round) EXPECT_TRUE(right_power(plan.get(), 101 + round % 3));
  EXPECT_EQ(others.finish(), 0);
}

// Not with sanitizers: their allocators have no fork handlers (GCC before 14, Clang before 17), so another
// thread may leave them locked for ever in the child.
#if defined(__unix__) && !defined(MANYMOD_SANITIZED)

// A wide modulus that is rejected: the call spends much of its time comparing it under the plan's lock.
bool refuses_even_modulus(mm_plan* plan) {
  constexpr std::size_t kWidth = MM_MAX_MODULUS_BITS / 64;
  static const std::vector<std::uint64_t> even(kWidth, 2);
  const Integers one({1});
  std::vector<std::uint64_t> result(kWidth);
  std::uint8_t status = 0;
  const mm_call call = make_call(one.view(), one.view(), {even.data(), 1, kWidth, 0, nullptr},
                                 {result.data(), 1, kWidth, 0, nullptr}, &status);
  return mm_plan_run(plan, &call) == MM_ERR_ITEMS && status == MM_ITEM_EVEN_MODULUS;
}

// Children are forked at arbitrary moments of the other threads' calls, also while these hold the plan's
// lock.
TEST(PlanSharing, ForkedChildrenNeverHang) {
  const PlanPointer plan =
      make_plan(plan_options(MM_OP_POWMOD, MM_TIMING_SECRET, MM_MAX_MODULUS_BITS, MM_MODULUS_SHARED));
  ASSERT_TRUE(refuses_even_modulus(plan.get()));
  Busy others([&plan](int, int) { return refuses_even_modulus(plan.get()); });
  for (int round = 0; round < 200; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(30);
      _exit(refuses_even_modulus(plan.get()) ? 0 : 1);
    }
    int outcome = -1;
    ASSERT_EQ(waitpid(child, &outcome, 0), child);
    ASSERT_TRUE(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0) << "round " << round;
  }
  EXPECT_EQ(others.finish(), 0);
}

#endif

}  // namespace
}  // namespace manymod::testing
