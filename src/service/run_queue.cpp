// SPDX-License-Identifier: Apache-2.0
#include "service/run_queue.hpp"

#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#endif

namespace manymod::service {

#ifdef __linux__

RunQueue::RunQueue() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
  if (const std::optional<Times> times = read()) before_ = *times;
}

RunQueue::~RunQueue() {
  if (file_ >= 0) ::close(file_);
}

std::optional<RunQueue::Times> RunQueue::read() const {
  std::array<char, 80> text{};
  const ssize_t size = file_ < 0 ? -1 : ::pread(file_, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  const char* const end = text.data() + size;
  Times times;
  const auto [space, first] = std::from_chars(text.data(), end, times.running);
  if (first != std::errc() || space == end) return std::nullopt;
  if (std::from_chars(space + 1, end, times.waiting).ec != std::errc()) return std::nullopt;
  return times;
}

#else

RunQueue::RunQueue() = default;
RunQueue::~RunQueue() = default;
std::optional<RunQueue::Times> RunQueue::read() const { return std::nullopt; }

#endif

std::optional<double> RunQueue::waited_share(Clock::time_point now) {
  if (now - last_ < kInterval) return std::nullopt;
  const std::optional<Times> times = read();
  if (!times || times->running == before_.running) return std::nullopt;
  const auto running = static_cast<double>(times->running - before_.running);
  const auto waiting = static_cast<double>(times->waiting - before_.waiting);
  last_ = now;
  before_ = *times;
  return waiting / (running + waiting);
}

}  // namespace manymod::service
