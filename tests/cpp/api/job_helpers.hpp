// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of asynchronous calls: short jobs, jobs that run for minutes, and jobs that wait for a
// gate to open.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "manymod/manymod.h"
#include "plan_helpers.hpp"

namespace manymod::testing {

using Limbs = std::vector<std::uint64_t>;

// Largest number of jobs that run at once, see mm_job.
inline constexpr std::size_t kJobThreads = 8;

struct DestroyJob {
  void operator()(mm_job* job) const { mm_job_destroy(job); }
};
using JobPointer = std::unique_ptr<mm_job, DestroyJob>;

inline PlanPointer power_plan(std::size_t width) {
  mm_plan_options options = plan_options(MM_OP_POWMOD, MM_TIMING_PUBLIC, width * 64, MM_MODULUS_SHARED);
  options.threads = 1;
  return make_plan(options);
}

// 2^(2^(64 exponent_width) - 1) mod 2^(64 width) - 1, which is 2^(64 width - 1) if width is a power of two.
struct Powers {
  Powers(std::size_t count, std::size_t width, std::size_t exponent_width)
      : y(exponent_width, ~std::uint64_t{0}),
        n(width, ~std::uint64_t{0}),
        result(count * width, 9),
        statuses(count, 0xff) {
    call = make_call({x.data(), 1, 1, 0, nullptr}, {y.data(), 1, exponent_width, 0, nullptr},
                     {n.data(), 1, width, 0, nullptr}, {result.data(), count, width, 0, nullptr},
                     statuses.data());
  }
  Powers(const Powers&) = delete;
  Powers& operator=(const Powers&) = delete;

  [[nodiscard]] bool right() const {
    for (std::size_t i = 0; i < statuses.size(); ++i) {
      if (statuses[i] != MM_OK) return false;
      for (std::size_t j = 0; j < n.size(); ++j) {
        const std::uint64_t expected = j + 1 == n.size() ? std::uint64_t{1} << 63 : 0;
        if (result[i * n.size() + j] != expected) return false;
      }
    }
    return true;
  }

  Limbs x{2}, y, n, result;
  std::vector<std::uint8_t> statuses;
  mm_call call{};
};

// Records the calls of a job's completion callback.
struct CompletionRecord {
  std::atomic<int> times{0};
  std::atomic<int> status{-1};
  std::thread::id thread;
};

inline void record_completion(mm_status status, void* user) {
  auto* record = static_cast<CompletionRecord*>(user);
  record->thread = std::this_thread::get_id();
  record->status = status;
  ++record->times;
}

inline JobPointer submit(mm_plan* plan, const mm_call& call, mm_done_fn done = nullptr,
                         void* user = nullptr) {
  mm_job* job = nullptr;
  EXPECT_EQ(mm_plan_submit(plan, &call, done, user, &job), MM_OK) << mm_last_error();
  EXPECT_NE(job, nullptr);
  return JobPointer(job);
}

// A job of one power that takes minutes, whose progress callback waits for a gate to open and then stops the
// call.
class HeldJob {
 public:
  HeldJob() {
    powers_.call.progress = hold;
    powers_.call.progress_user = this;
    job = submit(plan_.get(), powers_.call, record_completion, &record);
  }
  ~HeldJob() { open(); }
  HeldJob(const HeldJob&) = delete;
  HeldJob& operator=(const HeldJob&) = delete;

  void wait_until_held() const { held_.wait(false); }
  void open() {
    open_ = true;
    open_.notify_all();
  }

  CompletionRecord record;

 private:
  static int hold(std::size_t, std::size_t, void* user) {
    auto* self = static_cast<HeldJob*>(user);
    self->held_ = true;
    self->held_.notify_all();
    self->open_.wait(false);
    return 1;
  }

  PlanPointer plan_ = power_plan(256);
  Powers powers_{1, 256, 16384};
  std::atomic<bool> held_{false};
  std::atomic<bool> open_{false};

 public:
  JobPointer job;  ///< destroyed, and so waited for, before the members that it uses; the destructor opens
                   ///< the gate first
};

inline std::vector<std::unique_ptr<HeldJob>> hold_threads(std::size_t threads = kJobThreads) {
  std::vector<std::unique_ptr<HeldJob>> held;
  for (std::size_t i = 0; i < threads; ++i) held.push_back(std::make_unique<HeldJob>());
  for (const auto& job : held) job->wait_until_held();
  return held;
}

inline void open_all(const std::vector<std::unique_ptr<HeldJob>>& held) {
  for (const auto& job : held) job->open();
}

// A progress callback: `user` is an atomic bool.
inline int note_running(std::size_t, std::size_t, void* user) {
  auto* running = static_cast<std::atomic<bool>*>(user);
  *running = true;
  running->notify_all();
  return 0;
}

}  // namespace manymod::testing
