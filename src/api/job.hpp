// SPDX-License-Identifier: Apache-2.0
// A call that was submitted as a job: what becomes of it from its submission to its end.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "core/library_thread.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// Runs a call to its end; throws what is wrong with it.
using CallRunner = std::function<mm_status(const mm_call& call)>;

/// Who is told that a job is over.
struct Completion {
  mm_done_fn callback = nullptr;
  void* user = nullptr;
};

/// Queued, begun by one thread at most, ended. It waits by an atomic, not by a mutex, so that a forked child
/// may drop what its parent left unfinished.
class SubmittedCall {
 public:
  SubmittedCall(CallRunner runner, const mm_call& call, Completion done)
      : runner_(std::move(runner)), call_(call), done_(done) {}

  /// Run it, unless it was cancelled before.
  void run() noexcept;
  /// Ask it to stop. One that has not begun ends here.
  void cancel() noexcept;

  /// Also true of what can never end: a call that was left behind by a fork.
  [[nodiscard]] bool over() const noexcept { return ended() || left_behind(); }
  /// The outcome, once it is there. @throws StatusError where waiting would have no end
  mm_status wait() const;
  /// Until it has ended, where that is sure to come.
  void wait_if_possible() const noexcept;

 private:
  enum Phase : int { kQueued, kBegun, kEnded };

  [[nodiscard]] bool ended() const noexcept { return phase_.load(std::memory_order_acquire) == kEnded; }
  [[nodiscard]] bool left_behind() const noexcept { return process_ != process_id(); }
  [[nodiscard]] bool begin() noexcept;
  void wait_for_end() const noexcept;
  [[nodiscard]] bool stopped(std::size_t items_done, std::size_t items_total);
  [[nodiscard]] mm_status compute() noexcept;
  [[nodiscard]] mm_status give_up() noexcept;
  void end(mm_status status) noexcept;
  void explain(const char* text) noexcept;

  const CallRunner runner_;
  const mm_call call_;
  const Completion done_;
  const long process_ = process_id();
  std::atomic<int> phase_{kQueued};  ///< an int, which operating systems can wait for
  std::atomic<bool> stop_{false};
  bool was_stopped_ = false;  ///< by cancel(), in the middle
  mm_status status_ = MM_OK;  ///< this and the message are final before phase_ is kEnded
  std::string message_;
};

/// Queue `call` as a job. `job` is set before the job can begin: its callbacks may use and destroy it.
/// @throws StatusError, std::bad_alloc; then `job` is NULL and the callback is not called
void submit_job(CallRunner runner, const mm_call& call, Completion done, mm_job*& job);

}  // namespace manymod
