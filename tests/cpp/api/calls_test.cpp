// SPDX-License-Identifier: Apache-2.0
// Calls of several threads and processes: cancelled, concurrent, after a fork, with a cached modulus.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "plan_helpers.hpp"
#include "small_integers.hpp"
#include "support/brief.hpp"

namespace manymod::testing {
namespace {

using Limbs = std::vector<std::uint64_t>;

// powmod of `count` items with x = 2, modulus 2^(64 width) - 1 and e = 2^(64 exponent_width) - 1. The result
// is 2^(e mod 64 width) = 2^(64 width - 1) if 64 width divides 2^(64 exponent_width).
struct PowersOfTwo {
  PowersOfTwo(std::size_t count_in, std::size_t width_in, std::size_t exponent_width_in)
      : count(count_in),
        width(width_in),
        exponent_width(exponent_width_in),
        x{2},
        y(exponent_width, ~std::uint64_t{0}),
        n(width, ~std::uint64_t{0}),
        result(count * width, 9),
        statuses(count, 0xff) {}

  mm_call call() {
    return make_call({x.data(), 1, 1, 0, nullptr}, {y.data(), 1, exponent_width, 0, nullptr},
                     {n.data(), 1, width, 0, nullptr}, {result.data(), count, width, 0, nullptr},
                     statuses.data());
  }

  [[nodiscard]] Limbs item(std::size_t i) const {
    const auto begin = result.begin() + static_cast<std::ptrdiff_t>(i * width);
    return {begin, begin + static_cast<std::ptrdiff_t>(width)};
  }

  [[nodiscard]] Limbs expected() const {
    Limbs limbs(width, 0);
    limbs[width - 1] = std::uint64_t{1} << 63;
    return limbs;
  }

  [[nodiscard]] bool all_right() const {
    for (std::size_t i = 0; i < count; ++i) {
      if (statuses[i] != MM_OK || item(i) != expected()) return false;
    }
    return true;
  }

  std::size_t count, width, exponent_width;
  Limbs x, y, n, result;
  std::vector<std::uint8_t> statuses;
};

PlanPointer power_plan(std::size_t width, unsigned threads = 2, mm_timing timing = MM_TIMING_PUBLIC) {
  mm_plan_options options = plan_options(MM_OP_POWMOD, timing, width * 64, MM_MODULUS_SHARED);
  options.threads = threads;
  return make_plan(options);
}

// Enough items of enough work that several threads compute them.
PowersOfTwo many_powers() { return {400, 16, kBriefTests ? 4U : 16U}; }

TEST(Calls, ThreadCountsGiveTheSameResults) {
  for (const unsigned threads : {0u, 1u, 2u, 3u, 7u, 1024u}) {
    PowersOfTwo powers = many_powers();
    const mm_call call = powers.call();
    ASSERT_EQ(mm_plan_run(power_plan(16, threads).get(), &call), MM_OK) << mm_last_error();
    EXPECT_TRUE(powers.all_right()) << threads << " threads";
  }
}

TEST(Calls, DefaultThreads) {
  const unsigned initial = mm_get_threads();
  EXPECT_GE(initial, 1u);
  EXPECT_EQ(mm_set_threads(3), 3u);
  EXPECT_EQ(mm_get_threads(), 3u);
  PowersOfTwo powers(100, 16, 16);
  const mm_call call = powers.call();
  EXPECT_EQ(mm_plan_run(power_plan(16, 0).get(), &call), MM_OK);
  EXPECT_TRUE(powers.all_right());
  EXPECT_EQ(mm_set_threads(0), initial);
  EXPECT_EQ(mm_get_threads(), initial);
}

struct Watcher {
  int ticks = 0;
  int stop_at = 0;            // tick; 0: never
  std::size_t stop_done = 0;  // items done; 0: never
  bool stopped = false;
  bool called_again = false;
  std::size_t last_done = 0;
  bool backwards = false;
  std::thread::id thread;
};

int watch(std::size_t done, std::size_t total, void* user) {
  auto* watcher = static_cast<Watcher*>(user);
  watcher->backwards = watcher->backwards || done < watcher->last_done || done > total;
  watcher->last_done = done;
  watcher->thread = std::this_thread::get_id();
  watcher->called_again = watcher->called_again || watcher->stopped;
  watcher->stopped =
      ++watcher->ticks == watcher->stop_at || (watcher->stop_done > 0 && done >= watcher->stop_done);
  return watcher->stopped ? 1 : 0;
}

TEST(Calls, CancelledInTheMiddle) {
  for (const unsigned threads : {1u, 2u}) {
    PowersOfTwo powers(200'000, 32, 32);  // minutes of work
    mm_call call = powers.call();
    Watcher watcher;
    watcher.stop_done = 1;
    call.progress = watch;
    call.progress_user = &watcher;
    EXPECT_EQ(mm_plan_run(power_plan(32, threads).get(), &call), MM_ERR_CANCELLED);
    EXPECT_TRUE(watcher.stopped);
    EXPECT_FALSE(watcher.called_again);
    EXPECT_FALSE(watcher.backwards);
    EXPECT_EQ(watcher.thread, std::this_thread::get_id());
    std::size_t computed = 0;
    for (std::size_t i = 0; i < powers.count; ++i) {
      if (powers.statuses[i] == MM_OK) {
        ++computed;
        ASSERT_EQ(powers.item(i), powers.expected()) << i;
      } else {
        ASSERT_EQ(powers.statuses[i], MM_ITEM_NOT_COMPUTED) << i;
        ASSERT_EQ(powers.item(i), Limbs(powers.width, 0)) << i;
      }
    }
    EXPECT_GT(computed, 0u);
    EXPECT_LT(computed, powers.count);
  }
}

// A single item that would run for minutes: the engine itself must poll for the stop.
TEST(Calls, OneLongItemIsCancelled) {
  for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
    PowersOfTwo powers(1, 256, 16384);
    mm_call call = powers.call();
    Watcher watcher;
    watcher.stop_at = 1;
    call.progress = watch;
    call.progress_user = &watcher;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(mm_plan_run(power_plan(256, 1, timing).get(), &call), MM_ERR_CANCELLED);
    // A generous bound for slow sanitizer builds; the item itself takes far longer.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
    EXPECT_EQ(powers.statuses[0], MM_ITEM_NOT_COMPUTED);
    EXPECT_EQ(powers.item(0), Limbs(256, 0));
  }
}

int throw_anyway(std::size_t, std::size_t, void*) { throw 42; }

TEST(Calls, ThrowingCallbackStopsTheCall) {
  PowersOfTwo powers(100'000, 32, 32);
  mm_call call = powers.call();
  call.progress = throw_anyway;
  EXPECT_EQ(mm_plan_run(power_plan(32).get(), &call), MM_ERR_CANCELLED);
}

// The callback makes the modulus even, with chunks left that are still to be computed.
TEST(Calls, ASharedModulusIsThatAtTheBeginningOfTheCall) {
  for (const char* variant : {"scalar64.generic", "radix29.avx2", static_cast<const char*>(nullptr)}) {
    mm_plan_options options = plan_options(MM_OP_POWMOD, MM_TIMING_PUBLIC, 16 * 64, MM_MODULUS_SHARED);
    options.variant = variant;
    options.device = "cpu";
    mm_plan* created = nullptr;
    if (mm_plan_create(&options, &created) == MM_ERR_UNUSABLE_VARIANT) continue;
    const PlanPointer plan(created);
    struct Change {
      std::uint64_t* limb;
      bool changed = false;
    };
    bool changed = false;
    for (std::size_t count = 400; !changed; count *= 2) {
      PowersOfTwo powers(count, 16, 16);
      Change change{powers.n.data()};
      mm_call call = powers.call();
      call.progress_user = &change;
      call.progress = [](std::size_t done, std::size_t total, void* user) {
        auto* const to_do = static_cast<Change*>(user);
        to_do->changed = to_do->changed || done < total;
        *to_do->limb = 0;
        return 0;
      };
      ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
      EXPECT_TRUE(powers.all_right()) << mm_plan_variant(plan.get());
      changed = change.changed;
    }
  }
}

TEST(Calls, PlanIsUsableAfterACancelledCall) {
  const PlanPointer plan = power_plan(32);
  PowersOfTwo long_powers(1'000'000, 32, 32);
  mm_call call = long_powers.call();
  Watcher watcher;
  watcher.stop_at = 1;
  call.progress = watch;
  call.progress_user = &watcher;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_CANCELLED);
  PowersOfTwo powers(50, 32, 32);
  call = powers.call();
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_OK);
  EXPECT_TRUE(powers.all_right());
}

TEST(Calls, SeveralThreadsOnOnePlan) {
  const PlanPointer plan = power_plan(8, 2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (std::size_t user = 0; user < 4; ++user) {
    users.emplace_back([&, user] {
      for (int round = 0; round < (kBriefTests ? 6 : 20); ++round) {
        PowersOfTwo powers(user % 2 == 0 ? 3 : 200, user < 2 ? 8 : 4,
                           8);  // two moduli alternate in the plan
        const mm_call call = powers.call();
        if (mm_plan_run(plan.get(), &call) != MM_OK || !powers.all_right()) ++wrong;
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(wrong, 0);
}

// A forked child inherits none of its parent's threads and must start its own.
TEST(Calls, ForkThenUse) {
  const PlanPointer plan = power_plan(16, 2);
  PowersOfTwo before = many_powers();
  mm_call call = before.call();
  ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    PowersOfTwo powers = many_powers();
    const mm_call child_call = powers.call();
    const bool right = mm_plan_run(plan.get(), &child_call) == MM_OK && powers.all_right();
    _exit(right ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_TRUE(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
  PowersOfTwo after = many_powers();
  call = after.call();
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_OK);
  EXPECT_TRUE(after.all_right());
}

TEST(Calls, SharedPlanFollowsItsModulus) {
  const PlanPointer plan = make_plan(plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, 128, MM_MODULUS_SHARED));
  const Integers x({-1234, 5678});
  const Integers y({4321});
  for (const std::int64_t modulus :
       std::vector<std::int64_t>{101, 101, 103, -103, 1, 0, 101, 1LL << 40, 65536}) {
    const Integers n({modulus}, 2);
    Integers result({9, 9}, 2);
    const mm_call call = make_call(x.view(), y.view(), n.view(), result.result());
    ASSERT_EQ(mm_plan_run(plan.get(), &call), modulus == 0 ? MM_ERR_ITEMS : MM_OK);
    EXPECT_EQ(result.value(0), python_operation(MM_OP_MULMOD, -1234, 4321, modulus).value) << modulus;
    EXPECT_EQ(result.value(1), python_operation(MM_OP_MULMOD, 5678, 4321, modulus).value) << modulus;
  }
}

}  // namespace
}  // namespace manymod::testing
