// SPDX-License-Identifier: Apache-2.0
// The arguments of kernels, which are those of all backends (ecc/device), by their short names.
#pragma once

#include "ecc/device/jobs.hpp"
#include "ecc/device/row_jobs.hpp"
#include "ecc/device/sum_jobs.hpp"

namespace manymod::ecc::cuda {
using namespace device;  // NOLINT(google-build-using-namespace)
}  // namespace manymod::ecc::cuda
