// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "service/operation.hpp"

namespace manymod::service {

/// See mm_service_add_ecc. @throws StatusError
std::unique_ptr<const Operation> make_ecc_operation(mm_ecc_plan* plan, const mm_ecc_call& pattern);

}  // namespace manymod::service
