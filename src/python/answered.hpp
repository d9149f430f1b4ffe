// SPDX-License-Identifier: Apache-2.0
// Requests that are answered, on their way from the threads of a service, which never take the GIL, to the
// one Python thread that hands the answers out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "python/pending.hpp"

namespace manymod::python {

/// Thread-safe.
class Answered {
 public:
  /// `limit`: answers that may be on their way before those who compute more are held up.
  explicit Answered(std::size_t limit) : limit_(limit) {}

  /// Note that one more request will be answered, before it is submitted.
  void expect() { ++expected_; }
  /// Note that it will not, as it was not accepted; or that `count` answers were handed out.
  void settle(std::size_t count) {
    if ((expected_ -= count) != 0 || !stopping_) return;
    const std::scoped_lock lock(mutex_);  // take() has not yet looked, or waits
    came_.notify_all();
  }

  /// Add an expected answer. With `patient` it waits while as many as may are on their way: then the memory
  /// of answers is bounded however slowly they are taken.
  void push(Pending* pending, bool patient) {
    std::unique_lock lock(mutex_);
    if (patient) room_.wait(lock, [this] { return on_their_way_ < limit_ || stopping_; });
    pending->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = pending;
    last_ = pending;
    ++on_their_way_;
    if (waiting_) came_.notify_all();
  }

  /// The next answers, a list of at most `most` of them; null once none will come any more. `taken` receives
  /// their number.
  Pending* take(std::size_t most, std::size_t& taken) {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    came_.wait(lock, [this] { return first_ != nullptr || (stopping_ && expected_ == 0); });
    waiting_ = false;
    Pending* const list = first_;
    Pending* end = nullptr;
    for (taken = 0; taken < most && first_ != nullptr; ++taken) {
      end = first_;
      first_ = first_->next;
    }
    if (end != nullptr) end->next = nullptr;
    if (first_ == nullptr) last_ = nullptr;
    if (on_their_way_ >= limit_) room_.notify_all();
    on_their_way_ -= taken;
    return list;
  }

  /// Whether no answer is on its way or expected.
  [[nodiscard]] bool is_idle() {
    const std::scoped_lock lock(mutex_);
    return first_ == nullptr && expected_ == 0;
  }

  /// Let take() end once all that is expected has been taken, and hold nobody up: nothing more is accepted.
  void stop() {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    came_.notify_all();
    room_.notify_all();
  }

 private:
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable came_, room_;
  Pending *first_ = nullptr, *last_ = nullptr;
  std::size_t on_their_way_ = 0;
  bool waiting_ = false;  ///< take() waits
  // Changed without the lock, so that those who submit do not wait for those who answer.
  std::atomic<std::size_t> expected_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace manymod::python
