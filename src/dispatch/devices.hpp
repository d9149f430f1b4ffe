// SPDX-License-Identifier: Apache-2.0
// The devices of this machine: the CPU first, then GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dispatch/registry.hpp"

namespace manymod {

namespace cuda {
class Driver;
}

struct Device {
  std::string name;   ///< "cpu", "cuda:0"
  std::string model;  ///< the maker's name for it
  Backend backend = Backend::cpu;
  unsigned index = 0;               ///< among the devices of its backend: 1 for "cuda:1"
  std::string features;             ///< space-separated, for people
  unsigned units = 1;               ///< CPUs this process may run on; multiprocessors of a GPU
  std::uint64_t memory_bytes = 0;   ///< 0 if unknown
  CpuFeatures cpu_features = 0;     ///< CPU backend
  CpuFeatures hidden_features = 0;  ///< CPU backend: present but hidden by MANYMOD_HIDE_CPU
  unsigned compute_capability = 0;  ///< CUDA backend: 90 for 9.0
  unsigned code_capability = 0;     ///< CUDA backend: of the code that it runs, see gpu/cuda/device_code.hpp
  bool full_rate_doubles = false;   ///< CUDA backend: see gpu/cuda/probe.hpp
  std::string obstacle;             ///< why nothing can run on it; empty if it can be used
};

/// What this build and this machine have of CUDA, for people.
struct CudaSupport {
  bool built = false;  ///< the library has device code
  std::string
      driver;  ///< newest CUDA version that the driver serves, such as "13.0"; empty if none was found
  std::string obstacle;  ///< why there is no CUDA device; empty if there is one
};

struct Hardware {
  std::vector<Device> devices;  ///< the CPU, then "cuda:0", ..
  CudaSupport cuda;
};

/// @param hide_cuda the value of MANYMOD_HIDE_CUDA, null if unset: anything but "" and "0" hides all GPUs
Hardware find_hardware(cuda::Driver& driver, const char* hide_cuda);

/// Probed on first use, constant afterwards. Makes no context on a GPU.
std::span<const Device> devices();
const CudaSupport& cuda_support();

}  // namespace manymod
