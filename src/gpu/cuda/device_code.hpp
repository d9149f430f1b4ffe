// SPDX-License-Identifier: Apache-2.0
// The kernels that are compiled into the library: one image per src/**/*.cu (cmake/ManymodCuda.cmake).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace manymod::cuda {

/// Input of cuLibraryLoadData: machine code for each of the build's architectures, and PTX where it was
/// requested.
struct DeviceImage {
  const char* name;  ///< folder and name of the source: "row32/kernels"
  const unsigned char* data;
  std::size_t size;
};

/// Empty where the library was built without CUDA. No two images have a kernel of the same name.
std::span<const DeviceImage> device_images();

/// An architecture that the images are compiled for (MANYMOD_CUDA_ARCHITECTURES), such as "100+ptx".
struct CodeArchitecture {
  unsigned capability;  ///< 90 for sm_90 and sm_90a
  char suffix;  ///< 'a': runs on this capability only; 'f': on its major version; 0: on later ones too
  bool ptx;     ///< has PTX, which the driver compiles, besides machine code
};

/// The architectures of `device_images`.
std::span<const CodeArchitecture> device_architectures();

/// The version of CUDA whose compiler made `device_images`, as 1000 major + 10 minor; 0 where there are none.
int device_compiler();

/// Folders of techniques whose kernels the build leaves out (MANYMOD_COMPARISON_KERNELS).
std::span<const std::string_view> left_out_techniques();

/// The capability for which the code that a GPU of `capability` runs was compiled, since some kernels exist
/// for later capabilities only; 0 if the GPU runs none of the code. The driver prefers machine code to PTX
/// (CUDA C++ Programming Guide, application compatibility).
unsigned code_capability(std::span<const CodeArchitecture> architectures, unsigned capability);

}  // namespace manymod::cuda
