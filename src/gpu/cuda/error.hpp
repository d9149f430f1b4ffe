// SPDX-License-Identifier: Apache-2.0
// Failures of the CUDA driver, told apart by what the caller can do about them.
#pragma once

#include <cstdint>
#include <string>

#include "core/status_error.hpp"

namespace manymod::cuda {

/// CUresult of cuda.h; 0 is success.
using Result = int;

enum class Fault : std::uint8_t {
  no_driver,       ///< no driver library on this machine, or it does not start
  driver_too_old,  ///< it lacks functions that are needed, or cannot load this build's device code
  no_device,       ///< no GPU of that number, or it is not offered to this process
  forked,          ///< CUDA was in use when this process was forked off: it never works here
  no_device_code,  ///< this build has no such kernel, or none for this GPU
  out_of_memory,   ///< of the device, or of memory that it can read; a smaller request may succeed
  lost,            ///< a kernel fault or lost device: the device does nothing more for this process
  other,
};

/// Becomes MM_ERR_MEMORY, MM_ERR_UNKNOWN_DEVICE or MM_ERR_DEVICE where it reaches the C ABI.
class DriverError : public StatusError {
 public:
  static constexpr int kNoDevice = -1;

  /// A call of the driver failed. `name` is the result's, such as "CUDA_ERROR_OUT_OF_MEMORY".
  DriverError(Fault fault, int device, const char* call, Result result, const std::string& name);
  /// No call failed: the driver was not called, or what it said is of no use.
  DriverError(Fault fault, int device, const std::string& message);

  [[nodiscard]] Fault fault() const { return fault_; }
  [[nodiscard]] Result result() const { return result_; }  ///< 0 where no call failed
  [[nodiscard]] const std::string& result_name() const { return result_name_; }
  [[nodiscard]] const std::string& call() const { return call_; }
  [[nodiscard]] int device() const { return device_; }  ///< kNoDevice where it is about none

 private:
  Fault fault_;
  Result result_ = 0;
  int device_;
  std::string call_;
  std::string result_name_;
};

/// What a result means. Results that the driver repeats for the rest of the process are `lost`.
Fault fault_of(Result result);

}  // namespace manymod::cuda
