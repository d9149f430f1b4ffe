// SPDX-License-Identifier: Apache-2.0
// Command line of device_kernels.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"

namespace manymod::bench {

struct Options : CommonOptions {
  std::vector<std::string> techniques;  ///< empty: all
  std::vector<unsigned> bits;           ///< empty: all
  std::vector<std::string> moduli;      ///< "each", "shared"; empty: both
  std::vector<unsigned> windows;        ///< of powers; empty: a choice for each width
  bool sweep = false;                   ///< powers in batches of many sizes
  bool profile = false;

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

/// @throws std::invalid_argument
inline Options parse_options(int count, char** arguments) {
  Options options;
  parse_arguments(count, arguments, options, [&](std::string_view name, const auto& value) {
    if (name == "--profile") {
      options.profile = true;
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
      return false;
    }
    return true;
  });
  return options;
}

}  // namespace manymod::bench
