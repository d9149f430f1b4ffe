// SPDX-License-Identifier: Apache-2.0
// The queue of requests, and the threads that take batches from it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/joinable_thread.hpp"
#include "core/library_thread.hpp"
#include "service/operation.hpp"
#include "service/pace.hpp"
#include "service/statistics.hpp"
#include "service/submission.hpp"

namespace manymod::service {

struct Limits {
  Clock::duration deadline;
  std::size_t max_batch, max_queue;
  std::size_t max_concurrent;  ///< batches in all
  /// Whether an operation that GPUs compute has Operation::batches_on_gpus batches instead. They may exceed
  /// max_concurrent, since their threads only wait for the GPUs.
  bool more_on_gpus;
};

class Service;

/// Marks, during its lifetime, that this thread may run callbacks of a service. A callback may call another
/// service, whose callbacks then run within those of both.
class InCallback {
 public:
  explicit InCallback(const Service* service);
  ~InCallback();
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

  /// Whether the calling thread may be in a callback of the service.
  [[nodiscard]] static bool is_of(const Service* service);

 private:
  const Service* const service_;
  const InCallback* const outer_;  ///< of the same thread
};

/// Thread-safe. Its threads share its ownership: it lives until the last of them has ended.
///
/// One thread at a time, the gatherer, decides when the next batch begins and takes it; it computes the
/// batch while another thread gathers. Threads are started and woken only if requests wait and fewer batches
/// are being computed than allowed.
class Service : public std::enable_shared_from_this<Service> {
 public:
  explicit Service(const Limits& limits) : limits_(limits) {}
  /// Threads that close() has not joined, as it was called in a callback alone, end by themselves.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// @return the operation's number. @throws StatusError MM_ERR_CLOSED
  std::size_t add(std::unique_ptr<const Operation> operation);
  /// @throws StatusError MM_ERR_ARGUMENT if there is no such operation
  [[nodiscard]] const Operation& operation(std::size_t number) const;

  /// Accept requests, waiting at most `room` for room.
  /// @throws StatusError MM_ERR_FULL, MM_ERR_CLOSED, MM_ERR_MEMORY; MM_ERR_ARGUMENT if there is no such
  /// operation, or they do not suit it
  void submit(const std::shared_ptr<Submission>& submission, std::chrono::nanoseconds room);
  /// Compute a request on the calling thread if no request waits and one more batch may be computed, which
  /// saves two thread switches. @return whether it was computed; if not, it was not accepted either @throws
  /// StatusError MM_ERR_ARGUMENT as submit()
  [[nodiscard]] bool run_here(const std::shared_ptr<Submission>& submission);
  /// Answer requests that have not begun. @return their number
  std::size_t cancel(const std::shared_ptr<Submission>& submission);

  /// See mm_service_stop.
  void stop(bool drain);
  /// See mm_service_close. @return whether all is answered: not in a callback
  bool close(bool drain);
  /// Destroys the operations, whose copies of keys are zeroed, although tickets keep the service. On input:
  /// close() has returned true.
  void release_operations();
  [[nodiscard]] mm_service_statistics statistics() const;

  [[nodiscard]] bool is_of_this_process() const { return process_ == process_id(); }
  /// Whether the calling thread is in a callback of a request.
  [[nodiscard]] bool in_callback() const;

 private:
  /// The requests of one operation, in the order of their arrival.
  struct Channel {
    Channel(std::unique_ptr<const Operation> computed, std::size_t most_at_once)
        : operation(std::move(computed)), concurrent(most_at_once), pace(most_at_once) {}
    std::unique_ptr<const Operation> operation;  ///< null after release_operations()
    const std::size_t concurrent;                ///< most batches that are computed at the same time
    std::size_t running = 0;                     ///< batches
    Pace pace;
    std::deque<std::shared_ptr<Submission>> queue;      ///< some may have no waiting requests any more
    std::size_t ended = 0;                              ///< the number of those; after compact() at most half
    std::deque<std::shared_ptr<Submission>> withdrawn;  ///< the queue, once stop() has taken it away
    std::size_t waiting = 0;                            ///< requests
    std::atomic<std::size_t> unanswered = 0;  ///< requests of batches; not under the lock, as answers are not
  };
  /// Requests `begin` to `end` - 1 of a submission.
  struct Part {
    std::shared_ptr<Submission> of;  ///< null once they were computed and answered
    std::size_t begin, end;
    Clock::time_point accepted{};  ///< known once they were computed
  };
  struct Batch {
    Channel* channel = nullptr;
    std::vector<Part> parts;
    std::size_t size = 0, failed = 0;
    Clock::time_point began{}, computed{};
  };
  using Lock = std::unique_lock<std::mutex>;

  // Functions with a Lock are called with it held.
  [[nodiscard]] const Channel& channel(std::size_t number) const;
  [[nodiscard]] Channel& channel_of(Lock&, const Submission& submission);
  void wait_for_room(Lock& lock, std::chrono::nanoseconds room);
  [[noreturn]] void refuse(Lock&, mm_status status, const std::string& reason);
  void require_threads(Lock& lock, bool watcher);
  void accept(Lock&, Submission& submission, Channel& channel);
  void note_expiry(Lock&, const Submission& submission);
  [[nodiscard]] std::size_t withdraw(Lock&, Submission& submission);
  void compact(Lock&, Channel& channel);
  void withdraw_all(Lock&) noexcept;
  void answer_unbegun(std::span<const Part> parts, mm_status status) const noexcept;
  void leave_room(Lock&);
  void note_end(Lock&);

  void start_thread(std::function<void()> body);
  void start_server();
  void call_gatherer(Lock& lock) noexcept;
  /// Whether one more batch of the channel, or of any channel with waiting requests, may be computed now.
  [[nodiscard]] bool may_begin(Lock&, const Channel& channel) const noexcept;
  [[nodiscard]] bool may_begin_any(Lock& lock) const noexcept;
  void count_begun(Lock&, Batch& batch);
  void serve(Batch& batch) noexcept;
  [[nodiscard]] Channel* gather(Lock& lock);
  [[nodiscard]] bool become_gatherer(Lock& lock);
  [[nodiscard]] Channel* due_channel(Lock& lock, Clock::time_point now, Clock::time_point& begin);
  [[nodiscard]] Clock::time_point begin_of(Channel& channel, Clock::time_point now) const;
  void take(Lock& lock, Channel& channel, Batch& batch);
  void compute(Batch& batch, BatchArrays& arrays) noexcept;
  void finish(Lock& lock, const Batch& batch);

  void watch_expiries() noexcept;
  [[nodiscard]] std::vector<Part> withdraw_expired(Lock& lock, Clock::time_point now);

  const Limits limits_;
  const long process_ = process_id();
  mutable std::mutex mutex_;
  std::condition_variable called_gatherer_, company_, room_, ended_, expiry_;
  std::deque<Channel> channels_;  ///< never moved
  std::size_t waiting_ = 0;       ///< requests of all channels
  std::size_t running_ = 0;       ///< batches
  std::size_t most_running_ = 0;  ///< the maximum of what each operation allows
  std::size_t running_requests_ = 0;
  std::vector<std::thread> threads_;
  std::size_t servers_ = 0;  ///< threads that gather and compute
  std::size_t idle_ = 0;     ///< those of them that wait to be called
  std::size_t room_waiters_ = 0;
  std::size_t answering_ = 0;  ///< threads that answer what cancel() or stop() has withdrawn
  bool gathering_ = false;     ///< a thread gathers, or was called to
  bool called_ = false;        ///< a gatherer was woken and has not started
  bool holding_ = false;       ///< the gatherer waits for more requests
  bool watching_ = false;      ///< the thread for expiries runs
  bool closed_ = false;
  bool withdrawn_ = false;  ///< what waited was taken away, and is answered by the thread that took it
  Clock::time_point next_expiry_ = Clock::time_point::max();
  Statistics statistics_;
};

}  // namespace manymod::service
