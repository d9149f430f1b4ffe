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

/// What the images are compiled for (MANYMOD_CUDA_ARCHITECTURES): "100+ptx".
struct CodeArchitecture {
  unsigned capability;  ///< 90 for sm_90 and sm_90a
  char suffix;          ///< 'a': for this capability alone; 'f': for its major number; 0: for later ones, too
  bool ptx;             ///< not only machine code, but what drivers compile
};

/// Those of `device_images`.
std::span<const CodeArchitecture> device_architectures();

/// The capability for which the code was compiled that a GPU of `capability` runs: some kernels are there for
/// later ones only. 0 if it runs none. Machine code comes first, as the driver takes it (CUDA C++ Programming
/// Guide, application compatibility).
unsigned code_capability(std::span<const CodeArchitecture> architectures, unsigned capability);

}  // namespace manymod::cuda
