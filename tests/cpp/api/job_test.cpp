// SPDX-License-Identifier: Apache-2.0
// Asynchronous calls of the C ABI: outcomes, order, cancellation, callbacks.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "job_helpers.hpp"

namespace manymod::testing {
namespace {

TEST(Jobs, AnswerAsCallsDo) {
  const PlanPointer plan = power_plan(16);
  std::vector<std::thread> users;
  std::atomic<int> wrong{0};
  for (std::size_t user = 0; user < 4; ++user) {
    users.emplace_back([&, user] {
      std::vector<std::unique_ptr<Powers>> powers;
      std::vector<std::unique_ptr<CompletionRecord>> record;
      std::vector<JobPointer> jobs;
      for (std::size_t i = 0; i < 40; ++i) {
        powers.push_back(std::make_unique<Powers>(i % 5 + (user % 2) * 30, 16, i % 2 == 0 ? 16 : 1));
        if (i % 2 != 0) powers.back()->y = {1023};
        record.push_back(std::make_unique<CompletionRecord>());
        powers.back()->call.y.limbs = powers.back()->y.data();
        jobs.push_back(submit(plan.get(), powers.back()->call, record_completion, record.back().get()));
      }
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (mm_job_wait(jobs[i].get()) != MM_OK || !powers[i]->right()) ++wrong;
        if (mm_job_ended(jobs[i].get()) != 1 || mm_job_wait(jobs[i].get()) != MM_OK) ++wrong;
        if (record[i]->times != 1 || record[i]->status != MM_OK) ++wrong;
        if (record[i]->thread == std::this_thread::get_id()) ++wrong;
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Jobs, TheCallIsCopied) {
  const PlanPointer plan = power_plan(16);
  const auto held = hold_threads();
  Powers powers(3, 16, 16);
  const JobPointer job = submit(plan.get(), powers.call);
  std::memset(static_cast<void*>(&powers.call), 0xff, sizeof powers.call);
  open_all(held);
  EXPECT_EQ(mm_job_wait(job.get()), MM_OK) << mm_last_error();
  EXPECT_TRUE(powers.right());
}

// A struct of an older header: no bytes beyond its struct_size are read.
TEST(Jobs, AShorterCall) {
  const PlanPointer plan = power_plan(16);
  Powers powers(2, 16, 16);
  std::memset(reinterpret_cast<char*>(&powers.call) + offsetof(mm_call, on_device), 0xff,
              sizeof powers.call - offsetof(mm_call, on_device));
  powers.call.struct_size = offsetof(mm_call, on_device);
  EXPECT_EQ(mm_job_wait(submit(plan.get(), powers.call).get()), MM_OK) << mm_last_error();
  EXPECT_TRUE(powers.right());
}

struct Order {
  std::mutex mutex;
  std::vector<std::size_t> ended;
};

struct Place {
  Order* order;
  std::size_t number;
};

void note_place(mm_status, void* user) {
  const auto* place = static_cast<const Place*>(user);
  const std::lock_guard lock(place->order->mutex);
  place->order->ended.push_back(place->number);
}

TEST(Jobs, BeginInOrder) {
  const PlanPointer plan = power_plan(1);
  const auto held = hold_threads(kJobThreads - 1);  // one thread remains free
  Order order;
  std::vector<Place> places;
  for (std::size_t i = 0; i < 50; ++i) places.push_back({&order, i});
  std::vector<std::unique_ptr<Powers>> operands;
  std::vector<JobPointer> jobs;
  for (Place& place : places) {
    operands.push_back(std::make_unique<Powers>(1, 1, 1));
    jobs.push_back(submit(plan.get(), operands.back()->call, note_place, &place));
  }
  for (const JobPointer& job : jobs) EXPECT_EQ(mm_job_wait(job.get()), MM_OK);
  ASSERT_EQ(order.ended.size(), places.size());
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(order.ended[i], i);
}

TEST(Jobs, CancelledBeforeTheyBegin) {
  const PlanPointer plan = power_plan(16);
  const auto held = hold_threads();
  Powers powers(5, 16, 16);
  CompletionRecord record;
  const JobPointer job = submit(plan.get(), powers.call, record_completion, &record);
  EXPECT_EQ(mm_job_ended(job.get()), 0);
  mm_job_cancel(job.get());
  EXPECT_EQ(mm_job_ended(job.get()), 1);
  EXPECT_EQ(record.times, 1);
  EXPECT_EQ(record.status, MM_ERR_CANCELLED);
  EXPECT_EQ(record.thread, std::this_thread::get_id());
  EXPECT_EQ(mm_job_wait(job.get()), MM_ERR_CANCELLED);
  EXPECT_STREQ(mm_last_error(), "cancelled by mm_job_cancel before it began");
  EXPECT_EQ(powers.statuses, std::vector<std::uint8_t>(5, MM_ITEM_NOT_COMPUTED));
  EXPECT_EQ(powers.result, Limbs(5 * 16, 9));
  mm_job_cancel(job.get());
  open_all(held);
  for (const auto& other : held) EXPECT_EQ(mm_job_wait(other->job.get()), MM_ERR_CANCELLED);
  EXPECT_EQ(record.times, 1);
}

// A cancelled job writes nothing for a call that mm_plan_run would reject.
TEST(Jobs, CancelledWithoutAResult) {
  const PlanPointer plan = power_plan(16);
  const auto held = hold_threads();
  Powers powers(1, 16, 16);
  powers.call.count = SIZE_MAX;
  const JobPointer wrong_count = submit(plan.get(), powers.call);
  powers.call.result.count = SIZE_MAX;
  powers.call.result.limbs = nullptr;
  const JobPointer no_result = submit(plan.get(), powers.call);
  mm_job_cancel(wrong_count.get());
  mm_job_cancel(no_result.get());
  EXPECT_EQ(mm_job_wait(wrong_count.get()), MM_ERR_CANCELLED);
  EXPECT_EQ(mm_job_wait(no_result.get()), MM_ERR_CANCELLED);
  EXPECT_EQ(powers.statuses[0], 0xff);
}

TEST(Jobs, CancelledWhileTheyRun) {
  const PlanPointer plan = power_plan(256);
  Powers powers(1, 256, 16384);
  std::atomic<bool> running{false};
  powers.call.progress = note_running;
  powers.call.progress_user = &running;
  CompletionRecord record;
  const JobPointer job = submit(plan.get(), powers.call, record_completion, &record);
  running.wait(false);
  EXPECT_EQ(mm_job_ended(job.get()), 0);
  mm_job_cancel(job.get());
  EXPECT_EQ(mm_job_wait(job.get()), MM_ERR_CANCELLED);
  EXPECT_STREQ(mm_last_error(), "cancelled by mm_job_cancel; 1 of 1 items have no result");
  EXPECT_EQ(powers.statuses[0], MM_ITEM_NOT_COMPUTED);
  EXPECT_EQ(powers.result, Limbs(256, 0));
  EXPECT_EQ(record.times, 1);
}

TEST(Jobs, CancelledWithoutAProgressCallback) {
  const PlanPointer plan = power_plan(256);
  Powers powers(1, 256, 16384);
  const JobPointer job = submit(plan.get(), powers.call);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it has most likely begun by then
  mm_job_cancel(job.get());
  EXPECT_EQ(mm_job_wait(job.get()), MM_ERR_CANCELLED);
  EXPECT_EQ(powers.statuses[0], MM_ITEM_NOT_COMPUTED);
}

TEST(Jobs, StoppedByTheirProgressCallback) {
  HeldJob held;
  held.open();
  EXPECT_EQ(mm_job_wait(held.job.get()), MM_ERR_CANCELLED);
  EXPECT_NE(std::string(mm_last_error()).find("cancelled"), std::string::npos) << mm_last_error();
}

TEST(Jobs, CancelledAfterTheirEnd) {
  const PlanPointer plan = power_plan(16);
  Powers powers(2, 16, 16);
  const JobPointer job = submit(plan.get(), powers.call);
  EXPECT_EQ(mm_job_wait(job.get()), MM_OK);
  mm_job_cancel(job.get());
  EXPECT_EQ(mm_job_wait(job.get()), MM_OK);
  EXPECT_TRUE(powers.right());
}

// Cancelling races with the beginning of the job: the outcome is one of two, and the item statuses agree with
// it.
TEST(Jobs, CancelledAsTheyBegin) {
  const PlanPointer plan = power_plan(1);
  for (int round = 0; round < 300; ++round) {
    Powers powers(3, 1, 1);
    CompletionRecord record;
    const JobPointer job = submit(plan.get(), powers.call, record_completion, &record);
    std::thread other([&] { mm_job_cancel(job.get()); });
    mm_job_cancel(job.get());
    const mm_status status = mm_job_wait(job.get());
    other.join();
    ASSERT_EQ(record.times, 1);
    if (status == MM_OK) {
      ASSERT_TRUE(powers.right());
    } else {
      ASSERT_EQ(status, MM_ERR_CANCELLED);
      ASSERT_EQ(powers.statuses, std::vector<std::uint8_t>(3, MM_ITEM_NOT_COMPUTED));
    }
  }
}

TEST(Jobs, DestroyWaits) {
  HeldJob held;
  held.wait_until_held();
  std::thread opener([&] { held.open(); });
  held.job.reset();
  EXPECT_EQ(held.record.times, 1);
  opener.join();
}

TEST(Jobs, BadItemsAndBadCalls) {
  const PlanPointer plan = make_plan(plan_options(MM_OP_INVMOD));
  const Limbs x{2, 3};
  const Limbs n{4};
  Limbs result(2, 9);
  std::vector<std::uint8_t> statuses(2, 0xff);
  mm_call call = make_call({x.data(), 2, 1, 0, nullptr}, {}, {n.data(), 1, 1, 0, nullptr},
                           {result.data(), 2, 1, 0, nullptr}, statuses.data());
  const JobPointer items = submit(plan.get(), call);
  call.x.count = 7;
  const JobPointer argument = submit(plan.get(), call);
  EXPECT_EQ(mm_job_wait(items.get()), MM_ERR_ITEMS);
  EXPECT_NE(std::string(mm_last_error()).find("1 of 2 items"), std::string::npos) << mm_last_error();
  EXPECT_EQ(result, (Limbs{0, 3}));
  EXPECT_EQ(statuses, (std::vector<std::uint8_t>{MM_ITEM_NOT_INVERTIBLE, MM_OK}));
  // Every waiting thread gets the description of the error.
  std::thread other([&] {
    EXPECT_EQ(mm_job_wait(argument.get()), MM_ERR_ARGUMENT);
    EXPECT_NE(std::string(mm_last_error()).find("x.count is 7"), std::string::npos) << mm_last_error();
  });
  other.join();
  EXPECT_EQ(mm_job_wait(argument.get()), MM_ERR_ARGUMENT);
  EXPECT_NE(std::string(mm_last_error()).find("x.count is 7"), std::string::npos) << mm_last_error();
}

TEST(Jobs, RefusedSubmissions) {
  const PlanPointer plan = power_plan(16);
  Powers powers(1, 16, 16);
  CompletionRecord record;
  mm_job* job = reinterpret_cast<mm_job*>(&record);
  EXPECT_EQ(mm_plan_submit(nullptr, &powers.call, record_completion, &record, &job), MM_ERR_NULL);
  EXPECT_EQ(job, nullptr);
  EXPECT_EQ(mm_plan_submit(plan.get(), nullptr, record_completion, &record, &job), MM_ERR_NULL);
  EXPECT_EQ(mm_plan_submit(plan.get(), &powers.call, record_completion, &record, nullptr), MM_ERR_NULL);
  EXPECT_EQ(mm_fixed_base_submit(nullptr, &powers.call, record_completion, &record, &job), MM_ERR_NULL);
  powers.call.struct_size = 8;
  job = reinterpret_cast<mm_job*>(&record);
  EXPECT_EQ(mm_plan_submit(plan.get(), &powers.call, record_completion, &record, &job), MM_ERR_ARGUMENT);
  EXPECT_EQ(job, nullptr);
  EXPECT_EQ(record.times, 0);
  EXPECT_EQ(mm_job_ended(nullptr), 1);
  EXPECT_EQ(mm_job_wait(nullptr), MM_ERR_NULL);
  mm_job_cancel(nullptr);
  mm_job_destroy(nullptr);
}

void tell_and_throw(mm_status status, void* user) {
  record_completion(status, user);
  throw 42;
}

TEST(Jobs, ExceptionsOfCallbacksAreDropped) {
  const PlanPointer plan = power_plan(16);
  Powers powers(1, 16, 16);
  CompletionRecord record;
  EXPECT_EQ(mm_job_wait(submit(plan.get(), powers.call, tell_and_throw, &record).get()), MM_OK);
  EXPECT_EQ(record.times, 1);
  EXPECT_TRUE(powers.right());
}

// Records the status that a callback gets when it tries to wait.
struct Impatient {
  mm_plan* plan;
  mm_job* other;
  mm_job* own = nullptr;
  mm_status wait_for_other = MM_OK;
  mm_status wait_for_own = MM_OK;
  Powers powers{1, 16, 16};
  mm_status submitted = MM_ERR_INTERNAL;
  mm_job* next = nullptr;
  std::atomic<bool> left{false};
};

void try_to_wait(mm_status, void* user) {
  auto* self = static_cast<Impatient*>(user);
  self->wait_for_other = mm_job_wait(self->other);
  self->wait_for_own = mm_job_wait(self->own);
  mm_job_destroy(self->own);
  self->submitted = mm_plan_submit(self->plan, &self->powers.call, nullptr, nullptr, &self->next);
  self->left = true;
  self->left.notify_all();
}

TEST(Jobs, CallbacksDoNotWait) {
  const PlanPointer plan = power_plan(16);
  HeldJob held;
  Impatient impatient{plan.get(), held.job.get()};
  Powers powers(1, 16, 16);
  ASSERT_EQ(mm_plan_submit(plan.get(), &powers.call, try_to_wait, &impatient, &impatient.own), MM_OK);
  impatient.left.wait(false);
  EXPECT_EQ(impatient.wait_for_other, MM_ERR_ARGUMENT);
  EXPECT_EQ(impatient.wait_for_own, MM_ERR_ARGUMENT);
  ASSERT_EQ(impatient.submitted, MM_OK);
  EXPECT_EQ(mm_job_wait(impatient.next), MM_OK);
  EXPECT_TRUE(powers.right() && impatient.powers.right());
  mm_job_destroy(impatient.next);
  EXPECT_EQ(mm_job_ended(held.job.get()), 0);
}

TEST(Jobs, OfAFixedBase) {
  mm_fixed_base_options options{};
  options.struct_size = sizeof options;
  options.exponent_bits = 64;
  const Limbs g{3}, n{1009}, y{5, 4};
  const mm_view base{g.data(), 1, 1, 0, nullptr}, modulus{n.data(), 1, 1, 0, nullptr};
  mm_fixed_base* created = nullptr;
  ASSERT_EQ(mm_fixed_base_create(&options, &base, &modulus, &created), MM_OK);
  const FixedBasePointer fixed_base(created);
  Limbs result(2, 9);
  const mm_call call = make_call({}, {y.data(), 2, 1, 0, nullptr}, {}, {result.data(), 2, 1, 0, nullptr});
  mm_job* job = nullptr;
  ASSERT_EQ(mm_fixed_base_submit(fixed_base.get(), &call, nullptr, nullptr, &job), MM_OK);
  EXPECT_EQ(mm_job_wait(job), MM_OK);
  mm_job_destroy(job);
  EXPECT_EQ(result, (Limbs{243, 81}));
}

}  // namespace
}  // namespace manymod::testing
