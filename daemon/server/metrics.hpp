// SPDX-License-Identifier: Apache-2.0
// What the daemon has counted, in the text format of Prometheus.
#pragma once

#include <string>

#include "server/counters.hpp"
#include "server/generation.hpp"

namespace manymod::signd {

std::string metrics_text(const Counters& counters, const UseLog& uses, const Generation& generation);

/// Write a regular file as a whole or not at all, by one beside it, FILE.new. @return whether that was
/// possible
bool replace_file(const std::string& path, const std::string& text) noexcept;

}  // namespace manymod::signd
