// SPDX-License-Identifier: Apache-2.0
// The rows that come with the library.
#pragma once

#include <vector>

#include "dispatch/tuning.hpp"

namespace manymod {

/// For GPUs, which take batches of many items.
std::vector<TuningRow> shipped_gpu_rows();

/// For CPUs.
std::vector<TuningRow> shipped_cpu_rows();

}  // namespace manymod
