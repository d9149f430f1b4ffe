// SPDX-License-Identifier: Apache-2.0
// The threads of a service: one gathers the next batch, others compute theirs, one answers requests whose
// time has passed.
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "abi/enum_value.hpp"
#include "abi/last_error.hpp"
#include "service/run_queue.hpp"
#include "service/service.hpp"

namespace manymod::service {
namespace {

/// The answer to one item of a batch; in a failed batch each item has the batch's status.
mm_answer answer_of(const BatchArrays& arrays, std::size_t item, mm_status status, const char* message) {
  if (status != MM_OK && status != MM_ERR_ITEMS) return {status, 0, {}, message};
  return {static_cast<mm_status>(arrays.statuses[item]), arrays.valid[item], arrays.output(item), ""};
}

/// A copy of this thread's last error, which callbacks may replace; empty if memory is short.
std::string copied_last_error() noexcept {
  try {
    return last_error();
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace

/// The thread shares the service's ownership, so that the service exists as long as `body` runs.
void Service::start_thread(std::function<void()> body) {
  threads_.reserve(threads_.size() + 1);
  threads_.push_back(
      joinable_library_thread([self = shared_from_this(), body = std::move(body)] { body(); }));
}

/// A thread that gathers and computes. It allocates room for one part of a batch before it starts, so that
/// it can take waiting requests even if no memory is left later.
void Service::start_server() {
  const auto batch = std::make_shared<Batch>();
  batch->parts.reserve(1);
  start_thread([this, batch] { serve(*batch); });
  ++servers_;
}

/// Makes a thread take the waiting requests, unless one already will, or no further batch may be computed.
void Service::call_gatherer(Lock& lock) noexcept {
  if (gathering_ || !may_begin_any(lock)) return;
  if (idle_ == 0) {
    try {
      start_server();
    } catch (...) {  // no more threads: one that computes takes what waits when it is done
      return;
    }
  }
  gathering_ = called_ = true;
  called_gatherer_.notify_one();
}

void Service::serve(Batch& batch) noexcept {
  BatchArrays arrays;
  RunQueue run_queue;
  Lock lock(mutex_);
  while (Channel* const channel = gather(lock)) {
    take(lock, *channel, batch);
    gathering_ = false;
    call_gatherer(lock);
    leave_room(lock);
    lock.unlock();
    compute(batch, arrays);
    lock.lock();
    finish(lock, batch);
    if (const auto share = run_queue.waited_share(batch.computed)) channel->pace.waited_for_processor(*share);
  }
  --servers_;
  ended_.notify_all();
}

/// Waits for a channel with a due batch. Null once the service is closed.
Service::Channel* Service::gather(Lock& lock) {
  while (become_gatherer(lock)) {
    Clock::time_point begin{};
    while (Channel* const due = due_channel(lock, Clock::now(), begin)) {
      if (begin <= Clock::now()) return due;
      holding_ = true;
      company_.wait_until(lock, begin);
      holding_ = false;
    }
    gathering_ = false;
  }
  return nullptr;
}

bool Service::become_gatherer(Lock& lock) {
  if (!gathering_ && may_begin_any(lock)) {
    gathering_ = true;
    return true;
  }
  ++idle_;
  called_gatherer_.wait(lock, [this] { return called_ || (closed_ && waiting_ == 0); });
  --idle_;
  return std::exchange(called_, false);
}

bool Service::may_begin(Lock&, const Channel& channel) const noexcept {
  return running_ < most_running_ && channel.running < channel.concurrent;
}

bool Service::may_begin_any(Lock& lock) const noexcept {
  if (waiting_ == 0 || running_ >= most_running_) return false;
  return std::ranges::any_of(
      channels_, [&](const Channel& channel) { return channel.waiting != 0 && may_begin(lock, channel); });
}

void Service::count_begun(Lock&, Batch& batch) {
  ++running_;
  ++batch.channel->running;
  batch.channel->unanswered += batch.size;
  running_requests_ += batch.size;
}

/// The channel whose next batch begins first, and when that is; null if none may begin one.
Service::Channel* Service::due_channel(Lock& lock, Clock::time_point now, Clock::time_point& begin) {
  Channel* due = nullptr;
  for (Channel& channel : channels_) {
    for (; !channel.queue.empty() && channel.queue.front()->waiting() == 0; --channel.ended) {
      channel.queue.pop_front();
    }
    if (channel.queue.empty() || !may_begin(lock, channel)) continue;
    const Clock::time_point its = begin_of(channel, now);
    if (due == nullptr || its < begin) {
      due = &channel;
      begin = its;
    }
  }
  return due;
}

/// When the next batch of a channel with waiting requests begins: at once if as many wait as are wanted,
/// else when the first one has waited for the deadline.
Clock::time_point Service::begin_of(Channel& channel, Clock::time_point now) const {
  const Clock::time_point accepted = channel.queue.front()->accepted;
  const bool enough = channel.waiting >= std::min(channel.pace.wanted(now), limits_.max_batch);
  return enough || closed_ ? accepted : accepted + limits_.deadline;
}

void Service::take(Lock& lock, Channel& channel, Batch& batch) {
  const std::size_t most = std::min(channel.pace.most(Clock::now()), limits_.max_batch);
  batch.channel = &channel;
  batch.parts.clear();
  batch.size = 0;
  while (batch.size < most && !channel.queue.empty()) {
    const std::shared_ptr<Submission>& first = channel.queue.front();
    const std::size_t count = std::min(first->waiting(), most - batch.size);
    if (count == 0) {
      --channel.ended;
    } else {
      try {
        batch.parts.push_back({first, first->begun, first->begun + count});
      } catch (const std::bad_alloc&) {
        break;  // not for the first part (start_server); the rest waits for the next batch
      }
    }
    first->begun += count;
    batch.size += count;
    if (first->waiting() == 0) channel.queue.pop_front();
  }
  channel.waiting -= batch.size;
  waiting_ -= batch.size;
  count_begun(lock, batch);
}

void Service::compute(Batch& batch, BatchArrays& arrays) noexcept {
  const InCallback guard(this);
  batch.began = Clock::now();
  const Operation& operation = *batch.channel->operation;
  std::string message;
  const mm_status status = guarded([&] {
    arrays.begin(batch.size, operation.output_bytes());
    std::size_t item = 0;
    for (const Part& part : batch.parts) {
      for (std::size_t i = part.begin; i < part.end; ++i, ++item) {
        const Operands operands = part.of->operands(i);
        arrays.keys[item] = operands.key;
        arrays.inputs[item] = operands.input;
        arrays.signatures[item] = operands.signature;
      }
    }
    return operation.run(arrays);
  });
  batch.computed = Clock::now();
  if (status != MM_OK && status != MM_ERR_ITEMS) message = copied_last_error();
  std::size_t item = 0;
  batch.failed = 0;
  for (Part& part : batch.parts) {
    // Counted before the answers are given, because their callers may then submit the next requests.
    batch.channel->unanswered -= part.end - part.begin;
    for (std::size_t i = part.begin; i < part.end; ++i, ++item) {
      const mm_answer answer = answer_of(arrays, item, status, message.c_str());
      batch.failed += is_failure(answer) ? 1 : 0;
      part.of->answer(i, answer);
    }
    part.of->answered(part.end - part.begin);
    // Releases the requests now, so that their operands and results are zeroed. This thread's next batch,
    // which would replace them, may never come.
    part.accepted = part.of->accepted;
    part.of.reset();
  }
  arrays.wipe_outputs();
}

void Service::finish(Lock& lock, const Batch& batch) {
  batch.channel->pace.computed(batch.size, batch.computed - batch.began, batch.computed);
  statistics_.count_batch(batch.size, batch.computed - batch.began);
  statistics_.failed += batch.failed;
  statistics_.computed += batch.size - batch.failed;
  for (const Part& part : batch.parts) {
    statistics_.queued.add(batch.began - part.accepted, part.end - part.begin);
    statistics_.answered.add(batch.computed - part.accepted, part.end - part.begin);
  }
  --running_;
  --batch.channel->running;
  running_requests_ -= batch.size;
  if (holding_ && batch.channel->waiting != 0) company_.notify_one();  // the channel may begin again
  note_end(lock);
}

// ---- expiries ---------------------------------------------------------------------------------------------

void Service::note_expiry(Lock&, const Submission& submission) {
  if (submission.timeout().count() == 0) return;
  const Clock::time_point expiry = submission.accepted + submission.timeout();
  if (expiry >= next_expiry_) return;
  next_expiry_ = expiry;
  expiry_.notify_one();
}

/// Withdraw the requests whose time has passed, and set when to look again.
std::vector<Service::Part> Service::withdraw_expired(Lock& lock, Clock::time_point now) {
  constexpr std::chrono::milliseconds kLeastInterval{1};  // as all that wait are looked at
  std::vector<Part> parts;
  next_expiry_ = Clock::time_point::max();
  for (Channel& channel : channels_) {
    for (const std::shared_ptr<Submission>& submission : channel.queue) {
      if (submission->timeout().count() == 0 || submission->waiting() == 0) continue;
      if (submission->has_expired(now)) {
        try {
          parts.push_back({submission, submission->begun, submission->count()});
        } catch (const std::bad_alloc&) {  // the rest follows after kLeastInterval
          next_expiry_ = now;
          break;
        }
        statistics_.expired += withdraw(lock, *submission);
      } else {
        next_expiry_ = std::min(next_expiry_, submission->accepted + submission->timeout());
      }
    }
    compact(lock, channel);
  }
  if (next_expiry_ != Clock::time_point::max()) next_expiry_ = std::max(next_expiry_, now + kLeastInterval);
  return parts;
}

void Service::watch_expiries() noexcept {
  Lock lock(mutex_);
  while (!closed_ || waiting_ != 0) {
    if (next_expiry_ == Clock::time_point::max()) {
      expiry_.wait(lock);
    } else if (Clock::now() < next_expiry_) {
      expiry_.wait_until(lock, next_expiry_);
    } else {
      const std::vector<Part> expired = withdraw_expired(lock, Clock::now());
      leave_room(lock);
      note_end(lock);
      lock.unlock();
      answer_unbegun(expired, MM_ITEM_EXPIRED);
      lock.lock();
    }
  }
  watching_ = false;
  ended_.notify_all();
}

}  // namespace manymod::service
