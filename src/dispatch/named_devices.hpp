// SPDX-License-Identifier: Apache-2.0
// Which devices a device option names.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "dispatch/devices.hpp"

namespace manymod {

/// The devices that a device option names: "auto", "cpu", "cuda", "cuda:K", "opencl", "opencl:K".
/// "auto": the CPU and the GPUs of the first backend that has one.
/// @throws StatusError MM_ERR_UNKNOWN_DEVICE, with a message that lists the devices
std::vector<const Device*> devices_named(std::string_view name, std::span<const Device> devices);

/// All devices of the backend.
std::vector<const Device*> devices_of_backend(std::span<const Device> devices, Backend backend);

/// The devices that the backend's name stands for as a device option: those not marked by_name_only, or all
/// of the backend if there are no others.
std::vector<const Device*> default_devices(std::span<const Device> devices, Backend backend);

}  // namespace manymod
