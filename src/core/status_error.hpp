// SPDX-License-Identifier: Apache-2.0
// A failed call on its way to the C ABI, where it becomes a status code and mm_last_error()'s text.
#pragma once

#include <stdexcept>
#include <string>

#include "manymod/manymod.h"

namespace manymod {

class StatusError : public std::runtime_error {
 public:
  StatusError(mm_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  [[nodiscard]] mm_status status() const { return status_; }

 private:
  mm_status status_;
};

}  // namespace manymod
