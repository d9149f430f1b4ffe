// SPDX-License-Identifier: Apache-2.0
// Calls on curves from arrays on the host to arrays on the host, on the GPU and on the processor.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "../json.hpp"

namespace manymod::bench {

/// Items a second of kernels alone, by the operations of the program's own rows.
using KernelRates = std::map<std::string, double>;

/// Rows of the report, with the share of the rate of the kernels that a call needs; `right` is cleared where
/// the GPU's results are not the processor's, or its own signatures not valid. `curve`: a name of the
/// library. on_gpu_only: the processor is not measured.
std::vector<Json> measure_calls(const std::string& curve, const KernelRates& kernels,
                                const std::vector<std::size_t>& batches, bool on_gpu_only, bool& right);

}  // namespace manymod::bench
