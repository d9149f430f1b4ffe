// SPDX-License-Identifier: Apache-2.0
// Failures of OpenCL drivers.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/device_error.hpp"

namespace manymod::opencl {

using gpu::Fault;

/// The backend's name, as in "opencl:0".
inline constexpr const char* kBackendName = "opencl";

/// cl_int of CL/cl.h; 0 is success.
using Status = std::int32_t;
inline constexpr Status kInvalidQueue = -36;

class DriverError final : public gpu::DeviceError {
 public:
  /// The driver's function `call` returned a status of that name.
  DriverError(Fault fault, int device, const std::string& call, const std::string& status_name)
      : DeviceError(kBackendName, fault, device, call, status_name) {}
  /// No call failed.
  DriverError(Fault fault, int device, const std::string& message)
      : DeviceError(kBackendName, fault, device, message) {}
};

/// What a status means. Statuses that the driver repeats for the rest of the process are `lost`.
Fault fault_of(Status status);

/// "CL_OUT_OF_RESOURCES"; "OpenCL error -9999" for a status that the standard does not name.
std::string status_name(Status status);

}  // namespace manymod::opencl
