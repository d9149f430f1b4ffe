// SPDX-License-Identifier: Apache-2.0
// The daemon: its socket, its visitors, its readers, and the change of generations.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/config.hpp"
#include "server/reader.hpp"
#include "server/visitor.hpp"

namespace manymod::signd {

class Daemon final : private Visitor::Host {
 public:
  /// Read the configuration and the keys, and listen. @throws std::runtime_error, manymod::Error
  explicit Daemon(std::string config_path);
  ~Daemon() override;
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Serve until stop(). The destructor then answers what was taken from the rings; what is still in them,
  /// clients send to the next daemon.
  void run();
  /// These two may be called from any thread and from signal handlers.
  void stop() noexcept;
  void reload() noexcept;

 private:
  Bytes keys_for(const Peer& peer) override;
  Bytes metrics_for(const Peer& peer) override;
  Bytes welcome() override;
  void give_rings(Descriptor socket, const Peer& peer) override;

  void listen_on(const std::string& path);
  void accept_all();
  void admit(Descriptor socket);
  void advance(int socket);
  void watch(int file, unsigned events, bool known) const;
  void let_go(const Peer& peer);
  void end_overdue();
  void load_again();
  void retire();
  void report();
  [[nodiscard]] int wait_ms() const;

  const std::string config_path_;
  Shared shared_;
  RingLimits limits_{};
  Descriptor poll_, listener_, nudge_;
  std::atomic<bool> stopping_{false}, reloading_{false};
  std::unordered_map<int, Visitor> visitors_;  ///< by socket
  std::mutex counting_;
  std::map<uid_t, std::size_t> connections_;  ///< visitors, and clients with rings
  std::size_t all_connections_ = 0;
  std::vector<std::shared_ptr<const Generation>> retired_;
  Clock::time_point next_report_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::size_t next_reader_ = 0;
  unsigned socket_mode_ = 0;
  std::string socket_path_;
  std::size_t max_connections_ = 0, max_connections_per_user_ = 0;
};

}  // namespace manymod::signd
