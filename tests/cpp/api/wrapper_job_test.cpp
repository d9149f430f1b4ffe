// SPDX-License-Identifier: Apache-2.0
// Asynchronous calls of the C++ wrapper: the same results and exceptions as its synchronous calls.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "manymod/manymod.hpp"

namespace {

using Limbs = std::vector<std::uint64_t>;
using manymod::View;

// A power that takes minutes.
struct LongPower {
  Limbs x{3};
  Limbs y = Limbs(16384, ~std::uint64_t{0});
  Limbs n = Limbs(256, ~std::uint64_t{0});
  manymod::Plan plan{manymod::Op::powmod, 16384};

  [[nodiscard]] manymod::Operands operands() const { return {View(x, 1), View(y, 16384), View(n, 256)}; }
};

TEST(WrapperJobs, AnswerAsCallsDo) {
  const Limbs x{7, 9, 12};
  const Limbs y{5};
  const Limbs n{11};
  manymod::Plan plan(manymod::Op::powmod, 64, manymod::ModulusKind::shared);
  std::vector<manymod::Job> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back(plan.submit({View(x, 1), View(y, 1), View(n, 1)}));
  for (manymod::Job& job : jobs) {
    const manymod::Batch r = job.wait();
    EXPECT_EQ(r.size(), 3u);
    EXPECT_EQ(r[0][0], 10u);
    EXPECT_EQ(r[2][0], 1u);
    EXPECT_TRUE(job.ended());
    EXPECT_THROW((void)job.wait(), manymod::Error);
  }
  manymod::FixedBase powers(View(Limbs{3}, 1), View(Limbs{1000}, 1), 8);
  EXPECT_EQ(powers.submit(View(y, 1)).wait()[0][0], 243u);
}

TEST(WrapperJobs, BadItemsThrowOrAreReported) {
  const Limbs x{2, 3};
  const Limbs n{4};
  manymod::Plan plan(manymod::Op::invmod, 64);
  const manymod::Operands operands{View(x, 1), {}, View(n, 1)};
  std::vector<mm_status> statuses;
  manymod::Job reported = plan.submit(operands);
  EXPECT_EQ(reported.wait(&statuses)[1][0], 3u);
  EXPECT_EQ(statuses, (std::vector<mm_status>{MM_ITEM_NOT_INVERTIBLE, MM_OK}));
  manymod::Job thrown = plan.submit(operands);
  try {
    (void)thrown.wait();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const manymod::Error& error) {
    EXPECT_EQ(error.status(), MM_ERR_ITEMS);
    EXPECT_NE(std::string(error.what()).find("item 0"), std::string::npos) << error.what();
  }
}

TEST(WrapperJobs, ProgressExceptionsComeBack) {
  LongPower power;
  manymod::Job job = power.plan.submit(
      power.operands(), [](std::size_t, std::size_t) -> bool { throw std::domain_error("enough"); });
  EXPECT_THROW((void)job.wait(), std::domain_error);
}

TEST(WrapperJobs, AreCancelledAndMoved) {
  LongPower power;
  std::atomic<bool> running{false};
  manymod::Job job = power.plan.submit(power.operands(), [&running](std::size_t, std::size_t) {
    running = true;
    running.notify_all();
    return true;
  });
  running.wait(false);
  EXPECT_FALSE(job.ended());
  manymod::Job moved = std::move(job);
  moved.cancel();
  try {
    (void)moved.wait();
    ADD_FAILURE() << "the job was not cancelled";
  } catch (const manymod::Error& error) {
    EXPECT_EQ(error.status(), MM_ERR_CANCELLED);
  }
  // Destroying a job that nobody waits for cancels it and does not block for long.
  const manymod::Job dropped = power.plan.submit(power.operands());
}

// Waits for a job in a callback of another one, which the library refuses until that job has ended.
struct Persistent {
  manymod::Job job;
  std::size_t results = 0;
  int refusals = 0;
  std::string last{};

  static void call(mm_status, void* user) {
    auto* self = static_cast<Persistent*>(user);
    while (self->results == 0) {
      try {
        self->results = self->job.wait().size();
      } catch (const manymod::Error& error) {
        ++self->refusals;
        self->last = error.what();
        if (self->last.find("a callback of a job") == std::string::npos) return;
      }
    }
  }
};

TEST(WrapperJobs, ARefusedWaitLosesNoResults) {
  // The job ends at any moment between two waits and in the midst of one.
  constexpr std::size_t kItems = 500;
  const Limbs x(kItems, 3);
  const Limbs y(32, ~std::uint64_t{0});
  const Limbs n{1'000'003};
  manymod::Plan plan(manymod::Op::powmod, 64);
  for (int round = 0; round < 50; ++round) {
    Persistent waiting{plan.submit({View(x, 1), View(y, 32), View(n, 1)})};
    mm_call nothing{};
    nothing.struct_size = sizeof nothing;
    mm_job* other = nullptr;
    ASSERT_EQ(mm_plan_submit(plan.get(), &nothing, &Persistent::call, &waiting, &other), MM_OK);
    EXPECT_EQ(mm_job_wait(other), MM_OK);
    mm_job_destroy(other);
    ASSERT_EQ(waiting.results, kItems) << waiting.last << " after " << waiting.refusals;
  }
}

}  // namespace
