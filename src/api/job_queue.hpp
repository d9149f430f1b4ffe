// SPDX-License-Identifier: Apache-2.0
// The threads that run jobs: one queue per process, first in, first out.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "api/job.hpp"

namespace manymod {

class JobQueue {
 public:
  /// Jobs that run at a time. Two or three keep a GPU fed: one computes while the operands of the next are
  /// converted and the results of the last stored. Eight do so for several GPUs and for the CPU beside them;
  /// of jobs on CPUs more would only share the same cores.
  static constexpr std::size_t kThreads = 8;

  /// The queue of this process. A forked child gets one of its own.
  static JobQueue& of_this_process();

  /// Queue a call; threads are started as they are needed.
  /// @throws StatusError MM_ERR_MEMORY where there is no thread and none can be had, MM_ERR_CANCELLED while
  /// the process exits; std::bad_alloc
  void push(std::shared_ptr<SubmittedCall> call);

  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

 private:
  JobQueue() = default;
  ~JobQueue() = default;

  static void at_exit();

  void start_thread_locked();
  void work(std::size_t slot);
  void close();
  void cancel_waiting(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool others_run_locked() const;

  const long process_ = process_id();
  JobQueue* inherited_ = nullptr;  ///< the parent process's queue, kept reachable but never touched
  std::mutex mutex_;
  std::condition_variable work_offered_;
  std::condition_variable call_ended_;
  std::deque<std::shared_ptr<SubmittedCall>> waiting_;
  std::array<std::shared_ptr<SubmittedCall>, kThreads> running_;  ///< by thread; empty of those that wait
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  bool closed_ = false;
};

}  // namespace manymod
