// SPDX-License-Identifier: Apache-2.0
// More requests than manymod-signd can compute, for a while; then its death, and a new daemon.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/client.hpp"

namespace manymod::signd::overload {

struct Plan {
  std::string program, configuration;  ///< of the daemon, which is started and killed
  Settings settings;                   ///< of its clients
  std::string key;                     ///< its name in the configuration
  Scheme scheme{};
  std::size_t clients = 4;
  double calm_seconds =
      2;  ///< in which each client has `calm` requests outstanding, which tells the capacity
  std::size_t calm = 64;
  double factor = 10;  ///< times the capacity that clients ask for
  double seconds = 60;
};

struct Result {
  double capacity = 0;             ///< answers a second before
  double offered = 0, served = 0;  ///< requests and Status::ok a second in the overload
  std::uint64_t requests = 0, ok = 0, busy = 0, expired = 0, other = 0;
  std::uint64_t unanswered = 0, answered_twice = 0;  ///< of the requests
  double ok_p50_ms = 0, ok_p99_ms = 0;               ///< from submit() to the answer
  double busy_p50_ms = 0, busy_p99_ms = 0, busy_max_ms = 0;
  /// Resident memory of the daemon: a tenth of the time after the overload began, at its end, and the most.
  std::uint64_t early_bytes = 0, last_bytes = 0, most_bytes = 0;
  double recovery_ms = 0;  ///< from the daemon's death to the last client's first answer of the next daemon
  std::uint64_t lost = 0;  ///< requests under way at its death that were not answered with Status::ok
};

/// Start the daemon, and do all that. @throws std::runtime_error if it does not start, or has no such key
Result run(const Plan& plan);

}  // namespace manymod::signd::overload
