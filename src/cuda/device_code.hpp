// SPDX-License-Identifier: Apache-2.0
// The kernels that are compiled into the library: one image for each src/**/*.cu (cmake/ManymodCuda.cmake).
#pragma once

#include <cstddef>
#include <span>

namespace manymod::cuda {

/// What cuLibraryLoadData takes: machine code for each of the build's architectures, and PTX where it was
/// asked for.
struct DeviceImage {
  const char* name;  ///< the source's folder and name: "row32/kernels"
  const unsigned char* data;
  std::size_t size;
};

/// Empty where the library was built without CUDA. No kernel's name stands in two images.
std::span<const DeviceImage> device_images();

}  // namespace manymod::cuda
