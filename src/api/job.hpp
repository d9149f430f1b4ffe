// SPDX-License-Identifier: Apache-2.0
// An asynchronous call from its submission to its end.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "core/library_thread.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// Computes a call. @throws StatusError for an invalid call
using CallRunner = std::function<mm_status(const mm_call& call)>;

/// The completion callback and its argument.
struct Completion {
  mm_done_fn callback = nullptr;
  void* user = nullptr;
};

/// A call that is queued, then begun by at most one thread, then ended. Waiting uses an atomic rather than a
/// mutex, so that a forked child can destroy calls that its parent left unfinished.
class SubmittedCall {
 public:
  SubmittedCall(CallRunner runner, const mm_call& call, Completion done)
      : runner_(std::move(runner)), call_(call), done_(done) {}

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
  // Change the phase from kQueued to kBegun. Returns false if another thread has done so.
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

  const CallRunner runner_;
  const mm_call call_;
  const Completion done_;
  const long process_ = process_id();
  std::atomic<int> phase_{kQueued};  ///< an int, which operating systems can wait on (futex)
  std::atomic<bool> stop_{false};
  bool was_stopped_ = false;  ///< whether cancel() stopped it after it had begun
  mm_status status_ = MM_OK;  ///< final, like message_, before phase_ becomes kEnded
  std::string message_;
};

/// Queue `call` as a job. `job` is set before the job can begin, so that its callbacks may use and destroy
/// it.
/// @throws StatusError, std::bad_alloc; `job` is then null and the callback is not called
void submit_job(CallRunner runner, const mm_call& call, Completion done, mm_job*& job);

}  // namespace manymod
