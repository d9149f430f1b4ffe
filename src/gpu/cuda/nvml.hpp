// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine as NVML knows them, which neither initialises the CUDA driver nor makes a context.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/cuda/probe.hpp"

namespace manymod::cuda {

struct ManagedDevice {
  DeviceInfo info;
  std::string uuid;          ///< "GPU-8f6b.."
  bool partitioned = false;  ///< in MIG mode: CUDA sees parts of it
};

/// All GPUs, in the order of their PCI addresses, whether or not CUDA offers them to this process. None if
/// the library is missing, or does not say enough.
std::optional<std::vector<ManagedDevice>> managed_devices(const std::string& library);

/// The devices that CUDA offers, in its order, as numbers in `devices`; the two variables are those of the
/// environment, null if unset. None if that is for the driver alone to say: GPUs unlike each other, whose
/// order is by speed, and partitions.
std::optional<std::vector<std::size_t>> visible_order(const std::vector<ManagedDevice>& devices,
                                                      const char* cuda_visible_devices,
                                                      const char* cuda_device_order);

}  // namespace manymod::cuda
