// SPDX-License-Identifier: Apache-2.0
// Failures of GPUs and of their drivers, classified by what a caller can do about them.
#pragma once

#include <cstdint>
#include <string>

#include "core/status_error.hpp"

namespace manymod::gpu {

enum class Fault : std::uint8_t {
  no_driver,       ///< this machine has no driver library, or the driver does not start
  driver_too_old,  ///< the driver lacks functions that are needed, or cannot load this build's device code
  no_device,       ///< there is no GPU of that index, or the driver does not offer it to this process
  forked,          ///< the driver was in use when this process was forked, so it never works here
  no_device_code,  ///< this build has no such kernel, or has none for this GPU
  out_of_memory,   ///< of the device, or of pinned memory; a smaller request may succeed
  lost,            ///< a kernel fault or a lost device: the device computes nothing more for this process
  wrong_results,   ///< a kernel failed its test on this device, which is right in all else
  other,
};

/// Becomes MM_ERR_MEMORY, MM_ERR_UNKNOWN_DEVICE or MM_ERR_DEVICE at the C ABI. Its message begins with the
/// device's name, such as "cuda:0: ".
class DeviceError : public StatusError {
 public:
  static constexpr int kNoDevice = -1;

  /// The driver's function `call` failed; `error` is the driver's name for the failure, such as
  /// "CUDA_ERROR_OUT_OF_MEMORY".
  DeviceError(const char* backend, Fault fault, int device, const std::string& call,
              const std::string& error);
  /// No call failed.
  DeviceError(const char* backend, Fault fault, int device, const std::string& message);

  [[nodiscard]] const char* backend() const { return backend_; }  ///< "cuda"
  [[nodiscard]] Fault fault() const { return fault_; }
  [[nodiscard]] int device() const { return device_; }             ///< kNoDevice if it concerns none
  [[nodiscard]] const std::string& call() const { return call_; }  ///< empty if no call failed

  /// The same failure, classified as another fault.
  [[nodiscard]] DeviceError as(Fault fault) const;

 private:
  const char* backend_;
  Fault fault_;
  int device_;
  std::string call_;
};

/// Calls `steps`, those of a computation after which its operands may have been replaced by results: whoever
/// computes again after out_of_memory must not do so here, so that this fault becomes `other`.
template <class Steps>
void without_repetition(const Steps& steps) {
  try {
    steps();
  } catch (const DeviceError& error) {
    if (error.fault() != Fault::out_of_memory) throw;
    throw error.as(Fault::other);
  }
}

}  // namespace manymod::gpu
