// SPDX-License-Identifier: Apache-2.0
// Which variant is fastest where, as measured. The first row that fits and whose variant can run wins; where
// no row fits, the variants' priorities decide.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "dispatch/engine.hpp"

namespace manymod {

struct TuningRow {
  Operation op;
  TimingClass timing;
  std::size_t min_bits, max_bits;  ///< modulus widths the row speaks for
  std::string_view variant;
  std::string_view evidence;  ///< the measurement: processor, this variant's time and the runner-up's
};

std::span<const TuningRow> tuning_table();

}  // namespace manymod
