// SPDX-License-Identifier: Apache-2.0
// Point formulas as OpenCL C, which has no templates: the templates of ecc/formulas/ compute with
// names in place of numbers, and what they compute is written down, operation by operation.
#pragma once

#include <string>

namespace manymod::test {

/// src/ecc/opencl/formulas.clh.
std::string recorded_formulas();

}  // namespace manymod::test
