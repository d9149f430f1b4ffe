// SPDX-License-Identifier: Apache-2.0
// Jobs of several threads on GPUs that fail during the calls, some of them cancelled: each job ends exactly
// once, and the items that it computed are correct.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/job_helpers.hpp"
#include "gpu/engine/engine_helpers.hpp"

namespace manymod::testing {
namespace {

class JobFaults : public FakeGpuTest {
 protected:
  static constexpr std::size_t kCount = 500, kJobsOfThread = 8, kThreads = 3, kWidth = 2;

  CudaNumbers numbers_{51};
  const Batch n_ = numbers_.odd_moduli(kCount, kWidth), x_ = numbers_.some(kCount, kWidth),
              y_ = numbers_.some(kCount, kWidth);
  std::vector<std::vector<std::uint64_t>> expected_;

  void SetUp() override {
    FakeGpuTest::SetUp();
    const Operands operands{x_, y_, n_};
    for (std::size_t i = 0; i < kCount; ++i) {
      expected_.push_back(expected_item(Op::mulmod, operands, i).magnitude);
      expected_.back().resize(kWidth);
    }
  }

  struct Submitted {
    Batch results{kCount, kWidth};
    std::vector<std::uint8_t> statuses = std::vector<std::uint8_t>(kCount, 0xff);
    CompletionRecord record;
    JobPointer job;
  };

  void submit_to(mm_plan* plan, Submitted& to, bool cancel) const {
    mm_call call = make_call(View(x_).get(), View(y_).get(), View(n_).get(),
                             {to.results.limbs().data(), kCount, kWidth, kWidth, to.results.signs().data()},
                             to.statuses.data());
    to.job = submit(plan, call, record_completion, &to.record);
    if (cancel) mm_job_cancel(to.job.get());
  }

  void expect_right(const Submitted& submitted, bool cancelled) const {
    const mm_status outcome = mm_job_wait(submitted.job.get());
    EXPECT_TRUE(outcome == MM_OK || (cancelled && outcome == MM_ERR_CANCELLED)) << mm_last_error();
    EXPECT_EQ(submitted.record.times, 1);
    EXPECT_EQ(submitted.record.status, outcome);
    for (std::size_t i = 0; i < kCount; ++i) {
      if (submitted.statuses[i] == MM_OK) {
        ASSERT_TRUE(std::ranges::equal(submitted.results[i], expected_[i])) << "item " << i;
      } else {
        ASSERT_TRUE(cancelled && submitted.statuses[i] == MM_ITEM_NOT_COMPUTED) << "item " << i;
      }
    }
  }

  // All threads use the same plan.
  void run_all() const {
    mm_plan_options options = plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, 64 * kWidth);
    options.device = "auto";
    options.variant = "row32.cuda.t1";
    options.threads = 2;
    const PlanPointer plan = make_plan(options);
    std::vector<Submitted> jobs(kThreads * kJobsOfThread);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < kJobsOfThread; ++i) {
          submit_to(plan.get(), jobs[t * kJobsOfThread + i], i % 4 == 3);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < jobs.size(); ++i) expect_right(jobs[i], i % 4 == 3);
  }
};

TEST_F(JobFaults, OneLaunchFails) {
  for (const std::size_t at : {0u, 5u, 23u}) {
    SCOPED_TRACE(at);
    renew();
    fake_cuda::settings().devices = 3;
    fake_cuda::settings().failing_launch = at;
    run_all();
  }
}

TEST_F(JobFaults, AllGpusAreLost) {
  for (const std::size_t at : {0u, 7u, 31u}) {
    SCOPED_TRACE(at);
    renew();
    fake_cuda::settings().devices = 3;
    fake_cuda::settings().faulting_launch = at;
    run_all();
    EXPECT_EQ(fake_cuda::counts().unwiped, 0u);
  }
  renew();
}

TEST_F(JobFaults, LittleMemory) {
  fake_cuda::settings().devices = 3;
  fake_cuda::settings().memory_bytes = std::size_t{96} << 10;
  run_all();
}

}  // namespace
}  // namespace manymod::testing
