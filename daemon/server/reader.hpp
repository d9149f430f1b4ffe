// SPDX-License-Identifier: Apache-2.0
// A thread that takes the requests of its connections.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/connection.hpp"
#include "server/counters.hpp"
#include "server/generation.hpp"
#include "server/group.hpp"
#include "server/log.hpp"

namespace manymod::signd {

/// What the threads of a daemon share.
struct Shared {
  CurrentGeneration generation;
  Counters counters;
  UseLog uses;
  LimitedLog connection_log;  ///< what ends, or is not made
};

class Reader {
 public:
  explicit Reader(Shared& shared);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Take over a connection. @throws std::bad_alloc
  void add(std::shared_ptr<Connection> connection);

 private:
  /// Uses of one sweep, few of them, before they go to the shared log.
  struct SweepUse {
    const ServedKey* key;
    Operation operation;
    std::uint64_t accepted, denied;
  };
  struct Client {
    std::shared_ptr<Connection> connection;
    bool awake = true;
  };

  void run();
  void join_new();
  void sweep_all();
  void sweep(Client& client);
  void handle(const RequestHeader& header, ByteSpan input, Clock::time_point now);
  [[nodiscard]] Status group_up(const RequestHeader& header, ByteSpan input, Clock::time_point now);
  void note_use(const ServedKey& key, Operation operation, bool accepted);
  void end_sweep(Connection& connection);
  void wait(int limit_ms);
  void wake(Client& client);
  void drop_overdue();
  void drop(Client& client, const char* why);

  Shared& shared_;
  Descriptor poll_, wakeup_event_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<std::shared_ptr<Connection>> new_;
  std::vector<std::unique_ptr<Client>> clients_;
  Clock::time_point next_look_{};  ///< for clients that are overdue
  // Of the sweep that is being made.
  std::shared_ptr<const Generation> generation_;
  std::shared_ptr<Connection> connection_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<SweepUse> uses_;
  std::thread thread_;
};

}  // namespace manymod::signd
