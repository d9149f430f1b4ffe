// SPDX-License-Identifier: Apache-2.0
// OpenCL as a GPU backend: the devices of Driver::current().
#pragma once

#include "gpu/backend.hpp"

namespace manymod::opencl {

const gpu::Backend& backend();

}  // namespace manymod::opencl
