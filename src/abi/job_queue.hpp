// SPDX-License-Identifier: Apache-2.0
// The job queue of the process, first in, first out, and the threads that run its jobs.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "abi/job.hpp"

namespace manymod {

/// A queue of asynchronous calls and the threads that run them. Thread-safe.
class JobQueue {
 public:
  /// Largest number of jobs that run at once. Two or three keep a GPU busy: one computes while the operands
  /// of the next are converted and the results of the previous one are stored. Eight keep several GPUs and
  /// the CPU busy; more jobs on CPUs would only share the same cores.
  static constexpr std::size_t kThreads = 8;

  /// The queue of this process. A forked child gets a new one.
  static JobQueue& of_this_process();

  /// Queue a call. Threads are started as they are needed.
  /// @throws StatusError MM_ERR_MEMORY if there is no thread and none can be started, MM_ERR_CANCELLED while
  /// the process exits; std::bad_alloc
  void push(std::shared_ptr<SubmittedCall> call);

  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

 private:
  JobQueue() = default;
  ~JobQueue() = default;

  static void at_exit();

  void start_thread_locked();
  // The body of thread number `slot`.
  void work(std::size_t slot);
  // Cancel all calls and wait for those that run, at most kExitTimeout.
  void close();
  void cancel_waiting(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool others_run_locked() const;

  const long process_ = process_id();
  JobQueue* inherited_ = nullptr;  ///< the queue of the parent process, kept reachable, never used
  std::mutex mutex_;
  std::condition_variable work_offered_;
  std::condition_variable call_ended_;
  std::deque<std::shared_ptr<SubmittedCall>> waiting_;
  std::array<std::shared_ptr<SubmittedCall>, kThreads> running_;  ///< by thread; null if the thread is idle
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  bool closed_ = false;
};

}  // namespace manymod
