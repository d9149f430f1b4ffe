// SPDX-License-Identifier: Apache-2.0
// What the benchmarks' command lines have in common.
#pragma once

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace manymod::bench {

/// The parts of a list separated by commas.
inline std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t length = std::min(list.find(','), list.size());
    parts.emplace_back(list.substr(0, length));
    list.remove_prefix(std::min(length + 1, list.size()));
  }
  return parts;
}

/// A number above 0. @throws std::invalid_argument
template <class T>
T parse_number(std::string_view text) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) {
    throw std::invalid_argument("no number: " + std::string(text));
  }
  return number;
}

/// @throws std::invalid_argument
template <class T = unsigned>
std::vector<T> split_numbers(std::string_view list) {
  std::vector<T> numbers;
  for (const std::string& text : split(list)) numbers.push_back(parse_number<T>(text));
  return numbers;
}

struct CommonOptions {
  bool quick = false;
  bool help = false;
  std::string json;
};

/// Read a command line: --quick, --help, --json FILE, and others by `take(name, value)`, which calls value()
/// for the argument that belongs to an option, and returns whether it knows the option.
/// @throws std::invalid_argument
template <class Take>
void parse_arguments(int count, char** arguments, CommonOptions& common, const Take& take) {
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    const auto value = [&]() -> std::string_view {
      if (++i == count) throw std::invalid_argument(std::string(name) + " wants a value");
      return arguments[i];
    };
    if (name == "--quick") {
      common.quick = true;
    } else if (name == "--help") {
      common.help = true;
    } else if (name == "--json") {
      common.json = value();
    } else if (!take(name, value)) {
      throw std::invalid_argument("unknown option " + std::string(name));
    }
  }
}

}  // namespace manymod::bench
