// SPDX-License-Identifier: Apache-2.0
// What a client has in one process: a connection, the requests under way, and the thread that receives.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "client/client.hpp"
#include "client/link.hpp"

namespace manymod::signd {

/// A request under way. Its members belong to the session's mutex; `completion`, `event` and `answer` to the
/// session's thread while it delivers them, and `begun` always. Nothing but that thread changes `state` then.
struct Outstanding {
  enum class State : std::uint8_t { waiting, delivering, delivered, withdrawn };

  RequestHeader header;
  RequestHeaderBytes encoded{};
  Bytes input;
  Clock::time_point deadline;
  unsigned sends = 0;
  Completion completion;  ///< or
  int event = -1;         ///< or, if neither, call() waits for
  std::condition_variable answered;
  State state = State::waiting;
  bool begun = false;  ///< deliver() has come to it: its completion is called
  bool taken = false;  ///< the ticket has given the answer away
  Answer answer;
};
using OutstandingPtr = std::shared_ptr<Outstanding>;

/// Thread-safe. The session's thread does everything but the writing of requests to rings that have room.
class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(Settings settings);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] Answer call(const Request& request);
  [[nodiscard]] Ticket submit(const Request& request, Completion completion, int event);
  bool cancel(Outstanding& request);
  bool take(Outstanding& request, Answer& answer);
  /// Answer everything with Status::cancelled, and end the thread.
  void close();

  [[nodiscard]] pid_t process() const { return process_; }
  /// In a forked child: close its copies of the parent's descriptors, those that it still has.
  void close_copies();

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// Whom to wake once the mutex is unlocked. The system may run the woken thread at once and suspend the
  /// one that woke it; if that one still held the mutex, all other threads would have to wait for it.
  struct Wakeups {
    std::shared_ptr<Link> daemon;  ///< null: nobody
    bool thread = false;
  };
  void wake(Wakeups&& given) const;

  [[nodiscard]] static OutstandingPtr outstanding_of(const Request& request);
  void start_thread(const Lock&);
  /// Give it a slot and send it. @return the status that it gets at once; Status::ok if it is under way
  [[nodiscard]] Status enter(Lock&, const OutstandingPtr& request, Wakeups& wakeups);
  [[nodiscard]] bool send(Lock&, Outstanding& request, Wakeups& wakeups);
  [[nodiscard]] std::vector<OutstandingPtr> all_live(const Lock&) const;
  void leave(Lock&, const Outstanding& request);
  void withdraw(Lock&, Outstanding& request);

  void run();
  void connect(Lock& lock);
  /// @return null if the daemon cannot be reached by then, or refuses
  [[nodiscard]] std::unique_ptr<Link> open(Lock& lock, Clock::time_point limit);
  void note_failure(Lock& lock);
  void lose_link(Lock&);
  void resend_all(Lock& lock);
  [[nodiscard]] Status resend(Lock& lock, Outstanding& request, Wakeups& wakeups);
  void receive(Lock& lock);
  void sleep(Lock& lock);
  /// What is done every kTick.
  void tick(Lock& lock);
  void expire(Lock& lock, Clock::time_point now);
  void look_after_link(Lock& lock, Clock::time_point now);
  void answer_all(Lock& lock, Status status);
  void deliver(Lock& lock, std::vector<OutstandingPtr>& answered);
  void settle(Lock&, const OutstandingPtr& request, std::vector<OutstandingPtr>& answered);

  static constexpr std::uint32_t kFirstMaxOutstanding = 256;  ///< until a daemon says how many
  static constexpr std::uint32_t kProbeSlot = UINT32_MAX;     ///< which no request has

  const Settings settings_;
  const pid_t process_;
  /// A pipe that wakes the thread. A forked child can recognise it by its inode (NotedDescriptor); eventfds
  /// all share one inode.
  Descriptor wakeup_read_end_, wakeup_write_end_;
  /// The link's socket and both ends of the pipe. If the process forks while the socket is being replaced,
  /// the child may keep its copy of it open.
  std::array<NotedDescriptor, 3> noted_;
  std::atomic<bool> copies_closed_{false};

  std::mutex mutex_;
  std::condition_variable wanted_, delivered_;
  std::thread thread_;
  std::thread::id thread_id_;
  std::shared_ptr<Link> link_;
  std::uint32_t max_outstanding_ = kFirstMaxOutstanding;
  std::size_t max_input_ = kMaxRingBytes;
  std::vector<OutstandingPtr> slots_;  ///< by the low half of their ids
  std::vector<std::uint32_t> free_;    ///< slots
  std::uint32_t entered_ = 0;          ///< the high half of ids
  std::size_t live_ = 0;               ///< slots in use, those of withdrawn requests included
  bool closed_ = false;
  bool idle_ = false;                            ///< the thread waits without a limit
  bool asleep_ = false;                          ///< the thread waits for the link
  bool probing_ = false;                         ///< a probe has no answer yet
  Clock::time_point awaited_since_{};            ///< requests have been waiting since then, if any is
  Clock::time_point probed_{};                   ///< the daemon was last asked for a sign of life
  std::optional<Clock::time_point> lost_since_;  ///< no daemon since then
  Clock::time_point next_attempt_{}, next_tick_{};
  std::chrono::milliseconds pause_{0};  ///< between attempts
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace manymod::signd
