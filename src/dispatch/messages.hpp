// SPDX-License-Identifier: Apache-2.0
// Parts of messages that name variants and devices.
#pragma once

#include <string>
#include <string_view>

namespace manymod {

inline std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

/// name(element) of each element, separated by commas; "none" if there is no element.
template <class Range, class Name>
std::string joined(const Range& range, Name&& name) {
  std::string text;
  for (const auto& element : range) {
    if (!text.empty()) text += ", ";
    text += name(element);
  }
  return text.empty() ? "none" : text;
}

}  // namespace manymod
