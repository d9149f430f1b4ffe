// SPDX-License-Identifier: Apache-2.0
#include "abi/job_queue.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "core/library_thread.hpp"
#include "core/status_error.hpp"

namespace manymod {
namespace {

// Cancelled jobs stop within a fraction of this time, unless a callback hangs.
constexpr std::chrono::seconds kExitTimeout{2};

std::atomic<JobQueue*> current{nullptr};

// The call that this thread runs, if it is a thread of a queue. In a child that was forked by its callback,
// it does not belong to the child's queue.
thread_local const SubmittedCall* own_call = nullptr;

}  // namespace

// Never destroyed, for the reasons given at ThreadPool::of_this_process().
JobQueue& JobQueue::of_this_process() {
  const long process = process_id();
  JobQueue* queue = current.load(std::memory_order_acquire);
  while (queue == nullptr || queue->process_ != process) {
    auto* fresh = new JobQueue();
    fresh->inherited_ = queue;
    if (current.compare_exchange_strong(queue, fresh, std::memory_order_acq_rel)) {
      // A child inherits the registration. The static objects that jobs use were constructed earlier, with
      // their plans, and are therefore destroyed after at_exit() has run.
      if (fresh->inherited_ == nullptr) static_cast<void>(std::atexit(at_exit));
      return *fresh;
    }
    delete fresh;
  }
  return *queue;
}

void JobQueue::push(std::shared_ptr<SubmittedCall> call) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw StatusError(MM_ERR_CANCELLED, "the process is exiting: no further job is accepted");
    waiting_.push_back(std::move(call));
    if (idle_ < waiting_.size() && threads_ < kThreads) start_thread_locked();
  }
  work_offered_.notify_one();
}

void JobQueue::start_thread_locked() {
  try {
    start_library_thread([this, slot = threads_] { work(slot); });
    ++threads_;
  } catch (...) {
    if (threads_ > 0) return;  // the existing threads do the work
    waiting_.pop_back();
    throw StatusError(MM_ERR_MEMORY, "the system cannot start a thread for the job");
  }
}

void JobQueue::work(std::size_t slot) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_offered_.wait(lock, [this] { return !waiting_.empty(); });
    --idle_;
    running_[slot] = std::move(waiting_.front());
    waiting_.pop_front();
    own_call = running_[slot].get();
    lock.unlock();
    running_[slot]->run();
    lock.lock();
    own_call = nullptr;
    const std::shared_ptr<SubmittedCall> ended = std::exchange(running_[slot], nullptr);
    call_ended_.notify_all();
  }
}

void JobQueue::at_exit() {
  JobQueue* const queue = current.load(std::memory_order_acquire);
  if (queue->process_ == process_id()) queue->close();
}

// Cancels the waiting calls on this thread.
void JobQueue::cancel_waiting(std::unique_lock<std::mutex>& lock) {
  while (!waiting_.empty()) {
    const std::shared_ptr<SubmittedCall> call = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    call->cancel();
    lock.lock();
  }
}

// Whether any call other than that of this thread runs: exit() may have been called by a callback of a job.
bool JobQueue::others_run_locked() const {
  return std::ranges::any_of(running_,
                             [](const auto& call) { return call != nullptr && call.get() != own_call; });
}

void JobQueue::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  cancel_waiting(lock);
  const auto running = running_;
  lock.unlock();  // a call that its thread has not begun yet ends here, which calls its callback
  for (const std::shared_ptr<SubmittedCall>& call : running) {
    if (call != nullptr) call->cancel();
  }
  lock.lock();
  call_ended_.wait_for(lock, kExitTimeout, [this] { return !others_run_locked(); });
}

}  // namespace manymod
