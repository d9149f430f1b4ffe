// SPDX-License-Identifier: Apache-2.0
// Whether the machine has processors to spare, by how long a thread waits for one.
#pragma once

#include <cstdint>
#include <optional>

#include "service/pace.hpp"

namespace manymod::service {

/// The run queue as one thread sees it: of the time for which it could have run, the share for which it
/// waited for a processor. Linux counts both for each thread (/proc/thread-self/schedstat;
/// Documentation/scheduler/sched-stats.rst). Elsewhere, and where the file may not be read, nothing is known.
///
/// For the thread that made it only.
class RunQueue {
 public:
  RunQueue();
  ~RunQueue();
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  /// The share, 0 to 1, since the call that last returned one; nothing if that is less than kInterval ago, as
  /// the file takes a microsecond to read, or if the thread has not run since.
  [[nodiscard]] std::optional<double> waited_share(Clock::time_point now);

 private:
  static constexpr Clock::duration kInterval = std::chrono::milliseconds(5);
  struct Times {
    std::uint64_t running = 0, waiting = 0;  ///< nanoseconds
  };
  [[nodiscard]] std::optional<Times> read() const;

  int file_ = -1;
  Clock::time_point last_{};
  Times before_{};
};

}  // namespace manymod::service
