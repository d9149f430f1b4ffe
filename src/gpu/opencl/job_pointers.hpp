// SPDX-License-Identifier: Apache-2.0
// Where the arguments of kernels have pointers to device memory.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace manymod::opencl {

/// The offsets of the pointers in the argument of the kernel of that name.
std::span<const std::size_t> pointers_of(std::string_view kernel);

}  // namespace manymod::opencl
