// SPDX-License-Identifier: Apache-2.0
// Lines on standard error, where systemd takes them. They never have secrets: nothing here gets one.
#pragma once

#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/descriptor.hpp"

namespace manymod::signd {

enum class Level { error = 3, warning = 4, notice = 5, info = 6 };  ///< as in syslog

/// Write a line; under systemd with its level. Control characters are written as '?'. Thread-safe.
void log_line(Level level, std::string_view text) noexcept;

/// Lines that clients can cause as often as they like, of which one a second is written. Thread-safe.
class LimitedLog {
 public:
  /// Write a line, with the number of those that were left out since the last one, or leave it out: then
  /// `compose`, which gives its text, is not called.
  template <std::invocable Compose>
  void line(Level level, const Compose& compose) {
    if (const auto left_out = due(Clock::now())) write(level, compose(), *left_out);
  }
  /// The part of line() that decides. @return the number of those that were left out, or nothing: leave it
  /// out
  [[nodiscard]] std::optional<std::uint64_t> due(Clock::time_point now);

 private:
  static void write(Level level, const std::string& text, std::uint64_t left_out);

  std::mutex mutex_;
  Clock::time_point next_{};
  std::uint64_t left_out_ = 0;
};

/// "user=33" as it is, and names of certificates in quotation marks: peer="CN=web1,O=Example".
std::string audit_name(const std::string& principal);

}  // namespace manymod::signd
