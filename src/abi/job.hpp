// SPDX-License-Identifier: Apache-2.0
// An asynchronous call of a C interface from its submission to its end.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "abi/call_outputs.hpp"
#include "core/library_thread.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// What a job computes.
class JobWork {
 public:
  JobWork() = default;
  virtual ~JobWork() = default;
  JobWork(const JobWork&) = delete;
  JobWork& operator=(const JobWork&) = delete;

  /// Compute it, with this callback in the place of its own. @throws StatusError for an invalid call
  virtual mm_status run(mm_progress_fn progress, void* user) = 0;
  /// Call its own progress callback; 0 if it has none.
  virtual int report(std::size_t items_done, std::size_t items_total) const = 0;
  /// Set its item statuses, if it has an array for them, to MM_ITEM_NOT_COMPUTED.
  virtual void mark_not_computed() noexcept = 0;
};

/// A copy of a call of a C interface, which `run(const Call&)` computes.
template <class Call, class Run>
class CallWork final : public JobWork {
 public:
  CallWork(const Call& call, Run run) : call_(call), run_(std::move(run)) {}

  mm_status run(mm_progress_fn progress, void* user) override {
    Call observed = call_;
    observed.progress = progress;
    observed.progress_user = user;
    return run_(observed);
  }
  int report(std::size_t items_done, std::size_t items_total) const override {
    return call_.progress == nullptr ? 0 : call_.progress(items_done, items_total, call_.progress_user);
  }
  void mark_not_computed() noexcept override {
    const CallOutputs outputs = outputs_of(call_);
    if (outputs.appear_valid()) outputs.clear();
  }

 private:
  const Call call_;
  const Run run_;
};

/// The completion callback and its argument.
struct Completion {
  mm_done_fn callback = nullptr;
  void* user = nullptr;
};

/// A call that is queued, then begun by at most one thread, then ended. Waiting uses an atomic rather than a
/// mutex, so that a forked child can destroy calls that its parent left unfinished.
class SubmittedCall {
 public:
  SubmittedCall(std::unique_ptr<JobWork> work, Completion done) : work_(std::move(work)), done_(done) {}

  /// Compute it on this thread, unless it was cancelled before.
  void run() noexcept;
  /// Request a stop. A call that has not begun ends during this function, which calls its callback.
  void cancel() noexcept;

  /// Whether it has ended, or never will because it was submitted before this process was forked.
  [[nodiscard]] bool over() const noexcept { return ended() || left_behind(); }
  /// Wait for the end and return the outcome.
  /// @throws StatusError MM_ERR_ARGUMENT in a callback of a job and after a fork, where it might wait forever
  mm_status wait() const;
  /// Wait for the end, unless wait() would throw.
  void wait_if_possible() const noexcept;

 private:
  enum Phase : int { kQueued, kBegun, kEnded };

  [[nodiscard]] bool ended() const noexcept { return phase_.load(std::memory_order_acquire) == kEnded; }
  [[nodiscard]] bool left_behind() const noexcept { return process_ != process_id(); }
  // Change the phase from kQueued to kBegun. @return false if another thread has done so.
  [[nodiscard]] bool begin() noexcept;
  void wait_for_end() const noexcept;
  // The progress callback of the running call: whether cancel() or the user's callback requested a stop.
  [[nodiscard]] bool stopped(std::size_t items_done, std::size_t items_total);
  // Run the call and return its outcome; its message is stored.
  [[nodiscard]] mm_status compute() noexcept;
  // The outcome of a call that was cancelled before it began; sets its item statuses.
  [[nodiscard]] mm_status end_unbegun() noexcept;
  // Store the outcome, call the completion callback and wake the waiting threads.
  void end(mm_status status) noexcept;
  // Append to the message.
  void explain(const char* text) noexcept;

  const std::unique_ptr<JobWork> work_;
  const Completion done_;
  const long process_ = process_id();
  std::atomic<int> phase_{kQueued};  ///< an int, which operating systems can wait on (futex)
  std::atomic<bool> stop_{false};
  bool was_stopped_ = false;  ///< whether cancel() stopped it after it had begun
  mm_status status_ = MM_OK;  ///< final, like message_, before phase_ becomes kEnded
  std::string message_;
};

/// Queue `work` as a job. `job` is set before the job can begin, so that its callbacks may use and destroy
/// it.
/// @throws StatusError, std::bad_alloc; `job` is then null and the callback is not called
void submit_job(std::unique_ptr<JobWork> work, Completion done, mm_job*& job);

/// Queue `call`, which is copied and which `run(const Call&)` computes.
template <class Call, class Run>
void submit_call(const Call& call, Run run, Completion done, mm_job*& job) {
  submit_job(std::make_unique<CallWork<Call, Run>>(call, std::move(run)), done, job);
}

}  // namespace manymod
