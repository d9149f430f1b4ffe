// SPDX-License-Identifier: Apache-2.0
#include "server/log.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace manymod::signd {

void log_line(Level level, std::string_view text) noexcept {
  try {
    static const bool under_systemd = std::getenv("JOURNAL_STREAM") != nullptr;
    std::string line =
        under_systemd ? "<" + std::to_string(static_cast<int>(level)) + ">" : "manymod-signd: ";
    for (const char c : text) line += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
    line += '\n';
    static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
  } catch (...) {  // NOLINT(bugprone-empty-catch): without memory there is no line
  }
}

std::optional<std::uint64_t> LimitedLog::due(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  if (now < next_) {
    ++left_out_;
    return std::nullopt;
  }
  next_ = now + std::chrono::seconds(1);
  return std::exchange(left_out_, 0);
}

void LimitedLog::write(Level level, const std::string& text, std::uint64_t left_out) {
  log_line(level, left_out == 0
                      ? text
                      : text + " (" + std::to_string(left_out) + " such lines were left out before)");
}

std::string audit_name(const std::string& principal) {
  if (!principal.starts_with("peer=")) return principal;
  std::string name = "peer=\"";
  for (const char c : std::string_view(principal).substr(5)) {
    if (c == '"' || c == '\\') name += '\\';
    name += c;
  }
  return name + '"';
}

}  // namespace manymod::signd
