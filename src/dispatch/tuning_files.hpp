// SPDX-License-Identifier: Apache-2.0
// The text of the tuning files that the build embeds: data/tuning/*.tuning (cmake/ManymodTuning.cmake).
#pragma once

#include <span>
#include <string_view>

namespace manymod {

struct TuningFile {
  std::string_view name;  ///< path from the root of the sources, for messages
  std::string_view text;
};

/// The files in the order of their rows in the table.
std::span<const TuningFile> embedded_tuning_files();

}  // namespace manymod
