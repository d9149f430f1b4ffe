// SPDX-License-Identifier: Apache-2.0
// The devices of this machine: the CPU first, then the GPUs of each backend.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dispatch/registry.hpp"
#include "gpu/backend.hpp"

namespace manymod {

struct Device {
  std::string name;   ///< "cpu", "cuda:0"
  std::string model;  ///< the vendor's name for it
  Backend backend = Backend::cpu;
  unsigned index = 0;                          ///< among the devices of its backend: 1 for "cuda:1"
  std::string features;                        ///< space-separated, for users
  unsigned units = 1;                          ///< CPUs this process may run on; multiprocessors of a GPU
  std::uint64_t memory_bytes = 0;              ///< 0 if unknown
  std::shared_ptr<const DeviceTraits> traits;  ///< never null: for the requirements of the backend's variants
  std::string obstacle;                        ///< why nothing can run on it; empty if it can be used
};

/// What this build and this machine support of a GPU backend, for users.
struct GpuSupport {
  Backend backend = Backend::cuda;
  bool built = false;    ///< the library has device code for it
  std::string driver;    ///< newest API version that the driver serves: "13.0"; empty if none was found
  std::string obstacle;  ///< why there is no device; empty if there is one
};

struct Hardware {
  std::vector<Device> devices;   ///< the CPU, then "cuda:0", ..
  std::vector<GpuSupport> gpus;  ///< of each backend
};

/// Lists the hardware again at each call. A backend's devices are hidden if the environment variable
/// MANYMOD_HIDE_CUDA (with the backend's title in place of CUDA) is set to anything but "" and "0".
Hardware find_hardware();

/// The devices of this machine, listed on first use and constant afterwards. Opens no GPU.
std::span<const Device> devices();
const GpuSupport& gpu_support(Backend backend);

/// The GPU of that backend and index, opened on first use. @throws gpu::DeviceError
gpu::Device& gpu_device(Backend backend, unsigned index);

}  // namespace manymod
