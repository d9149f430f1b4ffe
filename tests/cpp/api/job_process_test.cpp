// SPDX-License-Identifier: Apache-2.0
// Jobs in processes that fork, that exit, and that cannot start threads.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "job_helpers.hpp"

namespace manymod::testing {
namespace {

// The value that work() returns in a forked child; -1 if the child crashed.
template <class Work>
int in_child(Work&& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int outcome = -1;
  EXPECT_EQ(waitpid(child, &outcome, 0), child);
  return WIFEXITED(outcome) ? WEXITSTATUS(outcome) : -1;
}

TEST(JobProcesses, AfterAFork) {
  const PlanPointer plan = power_plan(16);
  Powers before(2, 16, 16);
  JobPointer ended = submit(plan.get(), before.call);
  ASSERT_EQ(mm_job_wait(ended.get()), MM_OK);
  const auto held = hold_threads();
  Powers queued(2, 16, 16);
  CompletionRecord record;
  JobPointer waiting = submit(plan.get(), queued.call, record_completion, &record);
  EXPECT_EQ(in_child([&] {
              if (mm_job_wait(ended.get()) != MM_OK) return 1;
              ended.reset();
              for (JobPointer* left_behind : {&held[0]->job, &waiting}) {
                if (mm_job_ended(left_behind->get()) != 1) return 2;
                if (mm_job_wait(left_behind->get()) != MM_ERR_ARGUMENT) return 3;
                if (std::string(mm_last_error()).find("forked off") == std::string::npos) return 4;
                mm_job_cancel(left_behind->get());
                left_behind->reset();
              }
              if (record.times != 0 || queued.statuses[0] != 0xff) return 5;
              Powers own(20, 16, 16);
              const JobPointer job = submit(plan.get(), own.call, record_completion, &record);
              if (mm_job_wait(job.get()) != MM_OK || !own.right() || record.times != 1) return 6;
              return 0;
            }),
            0);
  EXPECT_EQ(record.times, 0);
  open_all(held);
  EXPECT_EQ(mm_job_wait(waiting.get()), MM_OK);
  EXPECT_TRUE(queued.right());
}

// The data of jobs that still run when the process exits. Never destroyed, as jobs may use it until the end.
struct Abandoned {
  PlanPointer plan = power_plan(256);
  std::vector<std::unique_ptr<Powers>> powers;
  std::vector<JobPointer> jobs;
  std::atomic<bool> running{false};
};
Abandoned* abandoned = nullptr;

void submit_and_abandon(std::size_t jobs) {
  abandoned = new Abandoned;
  for (std::size_t i = 0; i < jobs; ++i) {
    abandoned->powers.push_back(std::make_unique<Powers>(1, 256, 16384));
    mm_call& call = abandoned->powers.back()->call;
    call.progress = note_running;
    call.progress_user = &abandoned->running;
    abandoned->jobs.push_back(submit(abandoned->plan.get(), call));
  }
  abandoned->running.wait(false);
}

// These tests run in newly started processes: in a forked child, memory of threads that were not copied looks
// like a leak at exit.
class JobsAtExit : public ::testing::Test {
 protected:
  JobsAtExit() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Each of the jobs would run for minutes.
TEST_F(JobsAtExit, AreNotWaitedFor) {
  const auto leave = [] {
    submit_and_abandon(20);
    std::exit(7);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(7), "");
}

void exit_now(mm_status, void*) { std::exit(9); }

TEST_F(JobsAtExit, AreLeftByACallback) {
  const auto leave = [] {
    submit_and_abandon(3);
    Powers powers(1, 256, 1);
    const JobPointer job = submit(abandoned->plan.get(), powers.call, exit_now);
    for (;;) pause();
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(9), "");
}

#ifdef __GLIBC__
// Request a stack that no address space can hold, so that no thread can be started.
void refuse_threads() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{1} << 50);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

TEST(JobProcesses, WithoutThreads) {
  const PlanPointer plan = power_plan(16);
  EXPECT_EQ(in_child([&] {
              refuse_threads();
              Powers powers(1, 16, 16);
              CompletionRecord record;
              mm_job* job = nullptr;
              if (mm_plan_submit(plan.get(), &powers.call, record_completion, &record, &job) != MM_ERR_MEMORY)
                return 1;
              if (job != nullptr || record.times != 0) return 2;
              return std::string(mm_last_error()).find("thread") == std::string::npos ? 3 : 0;
            }),
            0);
}

TEST(JobProcesses, OneThreadIsEnough) {
  const PlanPointer plan = power_plan(16);
  EXPECT_EQ(in_child([&] {
              HeldJob held;
              held.wait_until_held();
              refuse_threads();
              Powers first(1, 16, 16), second(1, 16, 16);
              const JobPointer one = submit(plan.get(), first.call);
              const JobPointer two = submit(plan.get(), second.call);
              if (mm_job_ended(one.get()) != 0 || mm_job_ended(two.get()) != 0) return 1;
              held.open();
              if (mm_job_wait(one.get()) != MM_OK || mm_job_wait(two.get()) != MM_OK) return 2;
              return first.right() && second.right() ? 0 : 3;
            }),
            0);
}
#endif

}  // namespace
}  // namespace manymod::testing
