// SPDX-License-Identifier: Apache-2.0
// What the daemon counts: answers, connections, and the use of each key by each user.
#pragma once

#include <sys/types.h>

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
  std::atomic<std::int64_t> open_connections{0};  ///< with rings, now
};

/// Requests for a key.
struct Use {
  std::string key;
  uid_t user = 0;
  Operation operation{};
  std::uint64_t accepted = 0, denied = 0;
};

/// Thread-safe.
class UseLog {
 public:
  void add(const std::string& key, uid_t user, Operation operation, std::uint64_t accepted,
           std::uint64_t denied);
  /// Everything since the start.
  [[nodiscard]] std::vector<Use> totals() const;
  /// What has been added since the last call.
  [[nodiscard]] std::vector<Use> news();

 private:
  struct Counts {
    std::uint64_t accepted = 0, denied = 0, reported_accepted = 0, reported_denied = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, uid_t, Operation>, Counts> counts_;
};

}  // namespace manymod::signd
