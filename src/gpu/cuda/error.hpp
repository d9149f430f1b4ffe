// SPDX-License-Identifier: Apache-2.0
// Failures of the CUDA driver.
#pragma once

#include <string>

#include "gpu/device_error.hpp"

namespace manymod::cuda {

using gpu::Fault;

/// The backend's name, as in "cuda:0".
inline constexpr const char* kBackendName = "cuda";

/// CUresult of cuda.h; 0 is success.
using Result = int;

class DriverError final : public gpu::DeviceError {
 public:
  /// The driver's function `call` returned a result of that name.
  DriverError(Fault fault, int device, const std::string& call, const std::string& result_name)
      : DeviceError(kBackendName, fault, device, call, result_name) {}
  /// No call failed.
  DriverError(Fault fault, int device, const std::string& message)
      : DeviceError(kBackendName, fault, device, message) {}
};

/// What a result means. Results that the driver repeats for the rest of the process are `lost`.
Fault fault_of(Result result);

}  // namespace manymod::cuda
