// SPDX-License-Identifier: Apache-2.0
// Calls on curves from arrays on the host to arrays on the host, on the GPU and on the processor.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../json.hpp"

namespace manymod::bench {

/// Rows of the report; `right` is cleared where the GPU's results are not the processor's, or its own
/// signatures not valid. `curve`: a name of the library.
std::vector<Json> measure_calls(const std::string& curve, const std::vector<std::size_t>& batches,
                                bool& right);

}  // namespace manymod::bench
