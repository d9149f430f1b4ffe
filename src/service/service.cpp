// SPDX-License-Identifier: Apache-2.0
// The part of a service that runs on its callers' threads: to submit, cancel, close, and get statistics.
#include "service/service.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "core/status_error.hpp"

namespace manymod::service {
namespace {

thread_local const InCallback* innermost = nullptr;

}  // namespace

InCallback::InCallback(const Service* service) : service_(service), outer_(std::exchange(innermost, this)) {}
InCallback::~InCallback() { innermost = outer_; }

bool InCallback::is_of(const Service* service) {
  const InCallback* at = innermost;
  while (at != nullptr && at->service_ != service) at = at->outer_;
  return at != nullptr;
}

bool Service::in_callback() const { return InCallback::is_of(this); }

Service::~Service() {
  for (std::thread& thread : threads_) thread.detach();
}

std::size_t Service::add(std::unique_ptr<const Operation> operation) {
  const std::scoped_lock lock(mutex_);
  if (closed_) throw StatusError(MM_ERR_CLOSED, "the service is closed");
  const std::size_t on_gpus = limits_.more_on_gpus ? operation->batches_on_gpus() : 0;
  channels_.emplace_back(std::move(operation), on_gpus == 0 ? limits_.max_concurrent : on_gpus);
  most_running_ = std::max(most_running_, channels_.back().concurrent);
  return channels_.size() - 1;
}

const Service::Channel& Service::channel(std::size_t number) const {
  if (number >= channels_.size()) {
    throw StatusError(MM_ERR_ARGUMENT, "operation is " + std::to_string(number) + ", but the service has " +
                                           std::to_string(channels_.size()));
  }
  return channels_[number];
}

const Operation& Service::operation(std::size_t number) const {
  const std::scoped_lock lock(mutex_);
  return *channel(number).operation;
}

Service::Channel& Service::channel_of(Lock&, const Submission& submission) {
  submission.require_suited(*channel(submission.operation()).operation);
  return channels_[submission.operation()];
}

void Service::refuse(Lock&, mm_status status, const std::string& reason) {
  ++statistics_.refused;
  throw StatusError(status, reason);
}

void Service::wait_for_room(Lock& lock, std::chrono::nanoseconds room) {
  const auto has_room = [this] { return closed_ || waiting_ < limits_.max_queue; };
  if (has_room() || room.count() <= 0 || in_callback()) return;
  ++room_waiters_;
  room_.wait_for(lock, room, has_room);
  --room_waiters_;
}

void Service::require_threads(Lock&, bool watcher) {
  try {
    if (servers_ == 0) start_server();
    if (watcher && !watching_) {
      start_thread([this] { watch_expiries(); });
      watching_ = true;
    }
  } catch (const std::system_error&) {
    throw StatusError(MM_ERR_MEMORY, "the system can start no thread");
  }
}

void Service::accept(Lock&, Submission& submission, Channel& channel) {
  submission.accepted = Clock::now();
  channel.pace.arrived(submission.count(), submission.accepted);
  channel.pace.outstanding(channel.waiting + channel.unanswered + submission.count(), submission.accepted);
  statistics_.accepted += submission.count();
}

void Service::submit(const std::shared_ptr<Submission>& submission, std::chrono::nanoseconds room) {
  Lock lock(mutex_);
  Channel& channel = channel_of(lock, *submission);
  wait_for_room(lock, room);
  if (closed_) refuse(lock, MM_ERR_CLOSED, "the service is closed");
  if (waiting_ >= limits_.max_queue)
    refuse(lock, MM_ERR_FULL, std::to_string(waiting_) + " requests wait already");
  require_threads(lock, submission->timeout().count() != 0);
  channel.queue.push_back(submission);
  accept(lock, *submission, channel);
  note_expiry(lock, *submission);
  const bool was_empty = channel.waiting == 0;
  channel.waiting += submission->count();
  waiting_ += submission->count();
  call_gatherer(lock);
  // The gatherer must look again, because a batch may now begin earlier than it waits for.
  if (holding_ && (was_empty || begin_of(channel, submission->accepted) <= submission->accepted)) {
    company_.notify_one();
  }
}

bool Service::run_here(const std::shared_ptr<Submission>& submission) {
  Batch batch;
  batch.parts.push_back({submission, 0, submission->count()});
  batch.size = submission->count();
  {
    Lock lock(mutex_);
    Channel& channel = channel_of(lock, *submission);
    const bool busy = waiting_ != 0 || !may_begin(lock, channel);
    if (closed_ || busy || channel.pace.wanted(Clock::now()) > 1) return false;
    accept(lock, *submission, channel);
    submission->begun = submission->count();
    batch.channel = &channel;
    count_begun(lock, batch);
  }
  BatchArrays arrays;
  compute(batch, arrays);
  Lock lock(mutex_);
  finish(lock, batch);
  call_gatherer(lock);
  return true;
}

std::size_t Service::withdraw(Lock&, Submission& submission) {
  const std::size_t requests = submission.waiting();
  if (requests == 0) return 0;
  Channel& channel = channels_[submission.operation()];
  submission.begun = submission.count();
  ++channel.ended;
  channel.waiting -= requests;
  waiting_ -= requests;
  return requests;
}

/// Removes submissions without waiting requests from the whole queue, not only from its front: their
/// operands may be secret, and max_queue does not limit how many requests are submitted and withdrawn while
/// a long batch is computed. It runs when at least half of the queue can be removed, so that the amortised
/// cost of a withdrawal is constant.
void Service::compact(Lock&, Channel& channel) {
  if (2 * channel.ended <= channel.queue.size()) return;
  std::erase_if(channel.queue, [](const auto& submission) { return submission->waiting() == 0; });
  channel.ended = 0;
}

// Allocates nothing, because closing a service must not fail.
void Service::withdraw_all(Lock&) noexcept {
  for (Channel& channel : channels_) {
    channel.queue.swap(channel.withdrawn);
    channel.ended = 0;
    channel.waiting = 0;
  }
  statistics_.cancelled += waiting_;
  waiting_ = 0;
  withdrawn_ = true;
}

std::size_t Service::cancel(const std::shared_ptr<Submission>& submission) {
  std::size_t requests = 0;
  {
    Lock lock(mutex_);
    if (withdrawn_) return 0;
    requests = withdraw(lock, *submission);
    if (requests == 0) return 0;
    compact(lock, channels_[submission->operation()]);
    statistics_.cancelled += requests;
    ++answering_;
    leave_room(lock);
    note_end(lock);
  }
  const Part part{submission, submission->count() - requests, submission->count()};
  answer_unbegun({&part, 1}, MM_ITEM_NOT_COMPUTED);
  const std::scoped_lock lock(mutex_);
  --answering_;
  ended_.notify_all();
  return requests;
}

void Service::answer_unbegun(std::span<const Part> parts, mm_status status) const noexcept {
  const InCallback guard(this);
  for (const Part& part : parts) {
    for (std::size_t i = part.begin; i < part.end; ++i) part.of->answer(i, {status, 0, {}, ""});
    part.of->answered(part.end - part.begin);
  }
}

void Service::leave_room(Lock&) {
  if (room_waiters_ != 0 && waiting_ < limits_.max_queue) room_.notify_all();
}

/// Wakes the threads that wait for the last request to be answered.
void Service::note_end(Lock&) {
  if (!closed_ || waiting_ != 0) return;
  called_gatherer_.notify_all();
  company_.notify_all();
  expiry_.notify_all();
  ended_.notify_all();
}

void Service::stop(bool drain) {
  Lock lock(mutex_);
  closed_ = true;
  const bool withdraws = !drain && !withdrawn_;
  if (withdraws) {
    withdraw_all(lock);
    ++answering_;
  }
  company_.notify_all();
  room_.notify_all();
  note_end(lock);
  lock.unlock();
  if (!withdraws) return;
  // The withdrawn requests belong to this thread alone, so that it needs no lock to answer them.
  for (Channel& channel : channels_) {
    for (; !channel.withdrawn.empty(); channel.withdrawn.pop_front()) {
      const std::shared_ptr<Submission>& submission = channel.withdrawn.front();
      const Part part{submission, submission->begun, submission->count()};
      if (submission->waiting() != 0) answer_unbegun({&part, 1}, MM_ITEM_NOT_COMPUTED);
    }
  }
  lock.lock();
  --answering_;
  ended_.notify_all();
}

bool Service::close(bool drain) {
  stop(drain);
  if (in_callback()) return false;
  Lock lock(mutex_);
  ended_.wait(lock, [this] {
    return waiting_ == 0 && running_ == 0 && servers_ == 0 && !watching_ && answering_ == 0;
  });
  std::vector<std::thread> ending = std::exchange(threads_, {});
  lock.unlock();
  for (std::thread& thread : ending) thread.join();
  return true;
}

void Service::release_operations() {
  for (Channel& channel : channels_) channel.operation.reset();
}

mm_service_statistics Service::statistics() const {
  const std::scoped_lock lock(mutex_);
  mm_service_statistics all = statistics_.snapshot();
  all.waiting = waiting_;
  all.running = running_requests_;
  return all;
}

}  // namespace manymod::service
