// SPDX-License-Identifier: Apache-2.0
// Why a variant cannot be used, in words for users.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dispatch/devices.hpp"
#include "dispatch/variant_request.hpp"

namespace manymod {

/// The hardware that a variant requires, for users: "bmi2 adx", "compute capability 9.0"; "" if none.
std::string hardware_needs(const Variant& variant);

/// Why `variant` cannot run any operation on `device`; "" if it can.
std::string hardware_obstacle(const Variant& variant, const Device& device);

/// Why `variant` can run on none of `devices`; "" if one of them can run it.
std::string hardware_obstacle(const Variant& variant, std::span<const Device> devices);

/// Why `variant` cannot do the task of the request on any hardware; "" if it can.
std::string task_obstacle(const Variant& variant, const VariantRequest& request);

/// Why `variant` can do the task of the request on none of the devices `among`; "" if it can on one of them.
std::string request_obstacle(const Variant& variant, const VariantRequest& request,
                             const std::vector<const Device*>& among);

}  // namespace manymod
