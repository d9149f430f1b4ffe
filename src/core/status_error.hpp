// SPDX-License-Identifier: Apache-2.0
// The exception of a failed call, which the C ABI turns into a status and the text of mm_last_error().
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "manymod/manymod.h"

namespace manymod {

/// Whether the work of a failed call could be computed elsewhere.
enum class FailureClass : std::uint8_t {
  call,         ///< the call cannot be served, wherever it is computed
  device,       ///< a device failed, for lack of memory for instance, and may succeed later
  device_lost,  ///< a device can no longer be used by this process
};

/// A failed call: its status, message and failure class.
class StatusError : public std::runtime_error {
 public:
  /// The failure class is `device` for MM_ERR_DEVICE and `call` for any other status.
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
