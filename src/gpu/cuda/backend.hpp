// SPDX-License-Identifier: Apache-2.0
// CUDA as a GPU backend: the devices of Driver::current().
#pragma once

#include "gpu/backend.hpp"

namespace manymod::cuda {

const gpu::Backend& backend();

}  // namespace manymod::cuda
