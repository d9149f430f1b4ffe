// SPDX-License-Identifier: Apache-2.0
// The command line of device_kernels.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "program_main.hpp"

namespace manymod::bench {

struct Options : CommonOptions {
  std::vector<std::string> techniques;  ///< empty: all
  std::vector<unsigned> bits;           ///< empty: all
  std::vector<std::string> moduli;      ///< "each", "shared"; empty: both
  std::vector<unsigned> windows;        ///< of powers, in bits; empty: a choice for each width
  bool sweep = false;                   ///< powers in batches of many sizes
  bool profile = false;

  /// `folder` is such as "fios", `name` such as "fios.radix32_shared"; an option names either.
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

inline constexpr const char* kDescription =
    "Measure the CUDA kernels of all shapes and check their answers against the CPU library.";

inline void add_options(CLI::App& command, Options& options) {
  add_list(command, "--technique", options.techniques, "Names of techniques or forms (default: all)");
  add_list(command, "--bits", options.bits, "Widths (default: all)")->check(CLI::PositiveNumber);
  add_list(command, "--moduli", options.moduli, "A modulus for each instance, or one for all (default: both)")
      ->check(CLI::IsMember({"each", "shared"}));
  add_list(command, "--window", options.windows, "Windows of all powers, in bits")
      ->check(CLI::PositiveNumber);
  command.add_flag("--sweep", options.sweep,
                   "Measure powers also in batches of an eighth to four times a full device");
  command.add_flag("--profile", options.profile,
                   "For ncu: launch multiplications, squarings and secret powers of each shape once");
}

}  // namespace manymod::bench
