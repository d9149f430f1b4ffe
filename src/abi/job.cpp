// SPDX-License-Identifier: Apache-2.0
#include "abi/job.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include "abi/job_queue.hpp"
#include "abi/last_error.hpp"
#include "core/status_error.hpp"

struct mm_job {
  std::shared_ptr<manymod::SubmittedCall> call;
};

namespace manymod {
namespace {

// Set while this thread may run a callback of a job. A callback must not wait for jobs, since their start
// might need its thread.
thread_local bool in_job = false;

class InJob {
 public:
  InJob() : before_(std::exchange(in_job, true)) {}
  ~InJob() { in_job = before_; }
  InJob(const InJob&) = delete;
  InJob& operator=(const InJob&) = delete;

 private:
  bool before_;
};

// Call the completion callback. Its exceptions are discarded, as none may cross the C ABI.
void notify(const Completion& done, mm_status status) noexcept {
  try {
    done.callback(status, done.user);
  } catch (...) {
    return;
  }
}

}  // namespace

bool SubmittedCall::begin() noexcept {
  int expected = kQueued;
  return phase_.compare_exchange_strong(expected, kBegun, std::memory_order_acq_rel);
}

void SubmittedCall::run() noexcept {
  if (!begin()) return;
  const InJob guard;
  end(stop_.load(std::memory_order_relaxed) ? end_unbegun() : compute());
}

void SubmittedCall::cancel() noexcept {
  if (left_behind()) return;
  stop_.store(true, std::memory_order_relaxed);
  if (!begin()) return;
  const InJob guard;
  end(end_unbegun());
}

bool SubmittedCall::stopped(std::size_t items_done, std::size_t items_total) {
  if (stop_.load(std::memory_order_relaxed)) {
    was_stopped_ = true;
    return true;
  }
  return work_->report(items_done, items_total) != 0;
}

mm_status SubmittedCall::compute() noexcept {
  const mm_progress_fn progress = [](std::size_t items_done, std::size_t items_total, void* user) {
    return static_cast<SubmittedCall*>(user)->stopped(items_done, items_total) ? 1 : 0;
  };
  const mm_status status = guarded([&] { return work_->run(progress, this); });
  if (status == MM_OK) return status;
  const char* text = last_error();
  if (status == MM_ERR_CANCELLED && was_stopped_) {
    explain("cancelled by mm_job_cancel");
    text = std::strchr(text, ';');  // keeps "; 5 of 9 items have no result"
  }
  if (text != nullptr) explain(text);
  return status;
}

mm_status SubmittedCall::end_unbegun() noexcept {
  work_->mark_not_computed();
  explain("cancelled by mm_job_cancel before it began");
  return MM_ERR_CANCELLED;
}

void SubmittedCall::explain(const char* text) noexcept {
  try {
    message_ += text;
  } catch (...) {  // out of memory: the caller gets the status alone
    message_.clear();
  }
}

void SubmittedCall::end(mm_status status) noexcept {
  status_ = status;
  if (done_.callback != nullptr) notify(done_, status);
  phase_.store(kEnded, std::memory_order_release);
  phase_.notify_all();
}

void SubmittedCall::wait_for_end() const noexcept {
  for (int phase = phase_.load(std::memory_order_acquire); phase != kEnded;) {
    phase_.wait(phase, std::memory_order_acquire);
    phase = phase_.load(std::memory_order_acquire);
  }
}

mm_status SubmittedCall::wait() const {
  if (!ended()) {
    if (left_behind()) {
      throw StatusError(MM_ERR_ARGUMENT,
                        "the job had not ended when this process was forked off: it runs in the parent only");
    }
    if (in_job) throw StatusError(MM_ERR_ARGUMENT, "a callback of a job cannot wait for jobs");
    wait_for_end();
  }
  if (status_ == MM_OK) return MM_OK;
  return fail(status_, message_.empty() ? mm_status_message(status_) : message_.c_str());
}

void SubmittedCall::wait_if_possible() const noexcept {
  if (!left_behind() && !in_job) wait_for_end();
}

void submit_job(std::unique_ptr<JobWork> work, Completion done, mm_job*& job) {
  const auto submitted = std::make_shared<SubmittedCall>(std::move(work), done);
  job = std::make_unique<mm_job>(mm_job{submitted}).release();
  try {
    JobQueue::of_this_process().push(submitted);
  } catch (...) {
    delete std::exchange(job, nullptr);
    throw;
  }
}

}  // namespace manymod

extern "C" {

int mm_job_ended(const mm_job* job) { return job == nullptr || job->call->over() ? 1 : 0; }

// The `done` callback may destroy the job during these functions, so they hold a reference to its call.

mm_status mm_job_wait(mm_job* job) {
  if (job == nullptr) return manymod::fail(MM_ERR_NULL, "job is NULL");
  return manymod::guarded([call = job->call] { return call->wait(); });
}

void mm_job_cancel(mm_job* job) {
  if (job == nullptr) return;
  const std::shared_ptr<manymod::SubmittedCall> call = job->call;
  call->cancel();
}

void mm_job_destroy(mm_job* job) {
  if (job == nullptr) return;
  job->call->wait_if_possible();
  delete job;
}

}  // extern "C"
