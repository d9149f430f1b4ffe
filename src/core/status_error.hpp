// SPDX-License-Identifier: Apache-2.0
// A failed call on its way to the C ABI, where it becomes a status code and mm_last_error()'s text.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "manymod/manymod.h"

namespace manymod {

/// What a failure means for work that could be computed elsewhere.
enum class FailureClass : std::uint8_t {
  call,         ///< the call cannot be served, wherever it is computed
  device,       ///< a device failed this time, for want of memory for instance, and may succeed later
  device_lost,  ///< a device computes nothing more for this process
};

class StatusError : public std::runtime_error {
 public:
  /// MM_ERR_DEVICE is a device's failure, any other status the call's.
  StatusError(mm_status status, const std::string& message)
      : StatusError(status, message, status == MM_ERR_DEVICE ? FailureClass::device : FailureClass::call) {}
  StatusError(mm_status status, const std::string& message, FailureClass failure)
      : std::runtime_error(message), status_(status), failure_(failure) {}

  [[nodiscard]] mm_status status() const { return status_; }
  [[nodiscard]] FailureClass failure() const { return failure_; }

 private:
  mm_status status_;
  FailureClass failure_;
};

}  // namespace manymod
