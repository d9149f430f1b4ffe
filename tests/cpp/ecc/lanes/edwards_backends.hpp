// SPDX-License-Identifier: Apache-2.0
// Which lanes for Edwards curves a test can use on this processor.
#pragma once

#include <cstddef>
#include <string>

#include "core/cpu_features.hpp"
#include "ecc/lanes/edwards_lane_calls.hpp"

namespace manymod::test {

/// Why the backend of this index cannot be used here; empty if it can.
inline std::string obstacle_of_edwards_backend(std::size_t index) {
  const auto backends = ecc::lanes::edwards_lane_backends();
  if (index >= backends.size()) return "no such lanes";
  if ((cpu_info().features & backends[index].needs) == backends[index].needs) return {};
  return std::string("this processor does not run ") + backends[index].variant;
}

}  // namespace manymod::test
