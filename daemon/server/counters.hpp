// SPDX-License-Identifier: Apache-2.0
// What the daemon counts: answers, connections, and the use of each key by each client.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "protocol/request.hpp"

namespace manymod::signd {

inline constexpr std::size_t kStatuses = 8;  ///< those that the daemon gives

struct Counters {
  std::array<std::atomic<std::uint64_t>, kStatuses> answers{};  ///< by Status
  std::atomic<std::uint64_t> connections{0};                    ///< accepted
  std::atomic<std::uint64_t> refused_connections{0};
  std::atomic<std::uint64_t> protocol_errors{0};
  std::atomic<std::uint64_t> reloads{0}, failed_reloads{0};
  std::atomic<std::int64_t> open_connections{0};    ///< with requests, now
  std::atomic<std::uint64_t> failed_handshakes{0};  ///< of TLS: no certificate, or one that is not accepted
};

/// Requests for a key.
struct Use {
  std::string key;
  std::string principal;  ///< of Peer
  Operation operation{};
  std::uint64_t accepted = 0, denied = 0;
};

/// Thread-safe.
class UseLog {
 public:
  /// Beyond kMost rows, which certificates of an issuer without a bound could fill, further principals are
  /// "peer=others".
  void add(const std::string& key, const std::string& principal, Operation operation, std::uint64_t accepted,
           std::uint64_t denied);
  static constexpr std::size_t kMost = 10'000;
  /// Everything since the start.
  [[nodiscard]] std::vector<Use> totals() const;
  /// What has been added since the last call.
  [[nodiscard]] std::vector<Use> news();

 private:
  struct Counts {
    std::uint64_t accepted = 0, denied = 0, reported_accepted = 0, reported_denied = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, Operation>, Counts> counts_;
};

}  // namespace manymod::signd
