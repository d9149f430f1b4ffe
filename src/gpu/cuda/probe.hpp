// SPDX-License-Identifier: Apache-2.0
// Which GPUs there are, without making a context; where NVML can tell, without initialising the driver
// either, so that a process that only looked may still fork.
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
  int driver_version = 0;           ///< 12080: the driver serves CUDA 12.8; 0 if there is no driver
  std::vector<DeviceInfo> devices;  ///< in the driver's order: the first is "cuda:0"
  std::string obstacle;             ///< why there are none; empty if there are some
};

/// Never throws a DriverError, and never makes a context.
Probe probe(Driver& driver);

/// Obstacle of a device that its owner has closed to programs.
std::string prohibited_message();

/// FP64 instructions for each FP32 instruction in the same time are at least 1 to 2 (CUDA C++ Programming
/// Guide, arithmetic instructions): GPUs made for computing, against 1 to 32 or 64 for others.
bool full_rate_doubles(unsigned compute_capability);

}  // namespace manymod::cuda
