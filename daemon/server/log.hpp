// SPDX-License-Identifier: Apache-2.0
// Lines on standard error, where systemd takes them. They never have secrets: nothing here gets one.
#pragma once

#include <string_view>

namespace manymod::signd {

enum class Level { error = 3, warning = 4, notice = 5, info = 6 };  ///< as in syslog

/// Write a line; under systemd with its level. Control characters are written as '?'. Thread-safe.
void log_line(Level level, std::string_view text) noexcept;

}  // namespace manymod::signd
