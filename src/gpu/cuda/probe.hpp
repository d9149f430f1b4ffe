// SPDX-License-Identifier: Apache-2.0
// Lists the GPUs without creating a context. Where NVML can list them, the driver is not initialised either,
// so that a process that only listed the GPUs may still fork and use them in its children.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace manymod::cuda {

class Driver;

struct DeviceInfo {
  std::string model;
  unsigned compute_capability = 0;  ///< 90 for 9.0
  unsigned multiprocessors = 0;     ///< 0 if unknown
  std::uint64_t memory_bytes = 0;   ///< 0 if unknown
  std::string obstacle;             ///< why it cannot be used; empty if it can
};

struct Probe {
  int driver_version = 0;           ///< 12080 if the driver serves CUDA 12.8; 0 if there is no driver
  std::vector<DeviceInfo> devices;  ///< in the driver's order: the first is "cuda:0"
  std::string obstacle;             ///< why there are none; empty if there are some
};

/// Throws no DriverError and creates no context.
Probe probe(Driver& driver);

/// Obstacle of a device whose compute mode lets no process use it.
std::string prohibited_message();

}  // namespace manymod::cuda
