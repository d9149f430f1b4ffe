// SPDX-License-Identifier: Apache-2.0
#include "server/log.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

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
