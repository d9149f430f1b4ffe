// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_error.hpp"

namespace manymod::gpu {
namespace {

mm_status status_of(Fault fault) {
  switch (fault) {
    case Fault::out_of_memory:
      return MM_ERR_MEMORY;
    case Fault::no_driver:
    case Fault::driver_too_old:
    case Fault::no_device:
      return MM_ERR_UNKNOWN_DEVICE;
    default:
      return MM_ERR_DEVICE;
  }
}

FailureClass failure_of(Fault fault) {
  return fault == Fault::out_of_memory || fault == Fault::other ? FailureClass::device
                                                                : FailureClass::device_lost;
}

std::string prefixed(const char* backend, int device, const std::string& message) {
  if (device == DeviceError::kNoDevice) return message;
  return std::string(backend) + ":" + std::to_string(device) + ": " + message;
}

}  // namespace

DeviceError::DeviceError(const char* backend, Fault fault, int device, const std::string& message)
    : StatusError(status_of(fault), prefixed(backend, device, message), failure_of(fault)),
      backend_(backend),
      fault_(fault),
      device_(device) {}

DeviceError::DeviceError(const char* backend, Fault fault, int device, const std::string& call,
                         const std::string& error)
    : DeviceError(backend, fault, device, call + " failed: " + error) {
  call_ = call;
}

DeviceError DeviceError::as(Fault fault) const {
  DeviceError error(backend_, fault, kNoDevice, what());
  error.device_ = device_;
  error.call_ = call_;
  return error;
}

}  // namespace manymod::gpu
