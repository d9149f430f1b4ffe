// SPDX-License-Identifier: Apache-2.0
// The OpenCL C sources that are embedded in the library (cmake/ManymodOpencl.cmake).
#pragma once

#include <span>
#include <string_view>

namespace manymod::opencl {

/// The text of one program, with its includes replaced by what they include.
struct KernelSource {
  std::string_view name;  ///< below src/, without its suffix: "modmul/cios32/kernels"
  std::string_view text;
};

/// Sorted by name.
std::span<const KernelSource> kernel_sources();

}  // namespace manymod::opencl
