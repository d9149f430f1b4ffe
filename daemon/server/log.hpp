// SPDX-License-Identifier: Apache-2.0
// Lines on standard error, where systemd takes them. They never have secrets: nothing here gets one.
#pragma once

#include <string>
#include <string_view>

namespace manymod::signd {

enum class Level { error = 3, warning = 4, notice = 5, info = 6 };  ///< as in syslog

/// Write a line; under systemd with its level. Control characters are written as '?'. Thread-safe.
void log_line(Level level, std::string_view text) noexcept;

/// "user=33" as it is, and names of certificates in quotation marks: peer="CN=web1,O=Example".
std::string audit_name(const std::string& principal);

}  // namespace manymod::signd
