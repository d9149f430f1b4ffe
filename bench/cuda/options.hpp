// SPDX-License-Identifier: Apache-2.0
// Command line of device_kernels.
#pragma once

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace manymod::bench {

struct Options {
  std::vector<std::string> techniques;  ///< empty: all
  std::vector<unsigned> bits;           ///< empty: all
  std::vector<std::string> moduli;      ///< "each", "shared"; empty: both
  std::vector<unsigned> windows;        ///< of powers; empty: a choice for each width
  bool sweep = false;                   ///< powers in batches of many sizes
  bool quick = false;
  bool profile = false;
  bool help = false;
  std::string json;

  /// By the name of the folder, "fios", or of the form, "fios.radix32_shared".
  [[nodiscard]] bool wants_technique(std::string_view folder, std::string_view name) const {
    const auto is_named = [&](const std::string& wanted) { return wanted == folder || wanted == name; };
    return techniques.empty() || std::ranges::any_of(techniques, is_named);
  }
  [[nodiscard]] bool wants_bits(unsigned width) const {
    return bits.empty() || std::ranges::find(bits, width) != bits.end();
  }
  [[nodiscard]] bool wants_moduli(std::string_view kind) const {
    return moduli.empty() || std::ranges::find(moduli, kind) != moduli.end();
  }
};

inline constexpr const char* kUsage =
    "device_kernels [--technique NAME,..] [--bits N,..] [--moduli each,shared] [--window N,..] [--sweep]\n"
    "               [--quick] [--json FILE]\n"
    "device_kernels --profile [--technique NAME,..] [--bits N,..] [--moduli each,shared]\n"
    "  Measure the CUDA kernels of all shapes, and check their answers against the CPU library.\n"
    "  --window: of all powers\n"
    "  --sweep: powers also in batches of an eighth to four times what the device works on at a time\n"
    "  --profile: of each shape one launch of multiplications, one of squarings and one of secret powers, "
    "for ncu\n";

inline std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t length = std::min(list.find(','), list.size());
    parts.emplace_back(list.substr(0, length));
    list.remove_prefix(std::min(length + 1, list.size()));
  }
  return parts;
}

/// @throws std::invalid_argument
inline std::vector<unsigned> split_numbers(std::string_view list) {
  std::vector<unsigned> numbers;
  for (const std::string& text : split(list)) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw std::invalid_argument("no number: " + text);
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// @throws std::invalid_argument
inline Options parse_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    const auto value = [&]() -> std::string_view {
      if (++i == count) throw std::invalid_argument(std::string(name) + " wants a value");
      return arguments[i];
    };
    if (name == "--quick") {
      options.quick = true;
    } else if (name == "--profile") {
      options.profile = true;
    } else if (name == "--help") {
      options.help = true;
    } else if (name == "--json") {
      options.json = value();
    } else if (name == "--technique") {
      options.techniques = split(value());
    } else if (name == "--bits") {
      options.bits = split_numbers(value());
    } else if (name == "--moduli") {
      options.moduli = split(value());
    } else if (name == "--window") {
      options.windows = split_numbers(value());
    } else if (name == "--sweep") {
      options.sweep = true;
    } else {
      throw std::invalid_argument("unknown option " + std::string(name));
    }
  }
  return options;
}

}  // namespace manymod::bench
