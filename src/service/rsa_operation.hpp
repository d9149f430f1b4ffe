// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "service/operation.hpp"

namespace manymod::service {

/// See mm_service_add_rsa. @throws StatusError
std::unique_ptr<const Operation> make_rsa_operation(mm_rsa_ring* ring, mm_rsa_op op,
                                                    const mm_rsa_padding& padding);

}  // namespace manymod::service
