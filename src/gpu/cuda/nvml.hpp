// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine by NVML, which neither initialises the CUDA driver nor creates a context.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/cuda/probe.hpp"

namespace manymod::cuda {

struct ManagedDevice {
  DeviceInfo info;
  std::string uuid;          ///< "GPU-8f6b.."
  bool partitioned = false;  ///< in MIG mode: CUDA offers its partitions instead
};

/// All GPUs in the order of their PCI addresses, whether or not CUDA offers them to this process. Nothing if
/// the library is missing or cannot describe every GPU.
std::optional<std::vector<ManagedDevice>> managed_devices(const std::string& library);

/// The devices that CUDA offers, in its order, as indices into `devices`. The two arguments are the values of
/// the environment variables, null if unset. Nothing where only the driver knows the order: for GPUs of
/// different models, which it orders by speed, and for partitions.
std::optional<std::vector<std::size_t>> visible_order(const std::vector<ManagedDevice>& devices,
                                                      const char* cuda_visible_devices,
                                                      const char* cuda_device_order);

}  // namespace manymod::cuda
