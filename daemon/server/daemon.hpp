// SPDX-License-Identifier: Apache-2.0
// The daemon: its socket, its pending connections, its readers, and the change of generations.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/config.hpp"
#include "server/pending_connection.hpp"
#include "server/reader.hpp"
#include "transport/tcp.hpp"

namespace manymod::signd {

class Daemon final : private PendingConnection::Host {
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
  /// The port that clients of other hosts connect to; 0: none does.
  [[nodiscard]] unsigned short port() const { return tcp_listener_ ? local_port(tcp_listener_.get()) : 0; }

 private:
  Bytes keys_for(const Peer& peer) override;
  Bytes metrics_for(const Peer& peer) override;
  Bytes welcome() override;
  Place recognise(const Peer& peer) override;
  void give_rings(Descriptor socket, const Peer& peer, Place place) override;
  void give_stream(std::unique_ptr<TlsStream> stream, std::shared_ptr<const TlsContext> context,
                   const Peer& peer, Place place) override;

  void listen_on(const std::string& path);
  void listen_on_tcp(const Config& config);
  void accept_all(const Descriptor& listener);
  void admit(Descriptor socket, bool is_remote);
  void make_room(const Peer& newcomer);
  void refuse(int socket, bool is_remote);
  void hand_over(std::shared_ptr<Connection> connection);
  void note_end(const PendingConnection& connection, const char* error);
  void advance(int socket);
  void watch(int file, unsigned events, bool known) const;
  void end_overdue();
  void load_again();
  void retire();
  void report();
  [[nodiscard]] int wait_ms() const;

  const std::string config_path_;
  std::optional<Accounts> accounts_;  ///< before all that has places
  Shared shared_;
  Limits limits_{};
  Descriptor poll_, listener_, tcp_listener_, wakeup_event_;
  std::atomic<bool> stopping_{false}, reloading_{false};
  std::unordered_map<int, PendingConnection> pending_;  ///< by socket
  std::vector<std::shared_ptr<const Generation>> retired_;
  Clock::time_point next_report_;
  LimitedLog handshake_log_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::size_t next_reader_ = 0;
  unsigned socket_mode_ = 0;
  /// Whether there is a filter of system calls, and what for: a reload does not change it.
  bool is_sandboxed_ = false, is_cpu_alone_ = false, has_tokens_ = false;
  std::chrono::milliseconds pending_time_of_remote_{};  ///< of those of TCP
  std::string socket_path_;
};

}  // namespace manymod::signd
