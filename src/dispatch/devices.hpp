// SPDX-License-Identifier: Apache-2.0
// The devices of this machine: the CPU first, then the GPUs of each backend.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/registry.hpp"
#include "gpu/backend.hpp"

namespace manymod {

struct Device {
  std::string name;   ///< "cpu", "cuda:0", "opencl:0"
  std::string model;  ///< the vendor's name for it
  Backend backend = Backend::cpu;
  unsigned index = 0;                          ///< among the devices of its backend: 1 for "cuda:1"
  std::string features;                        ///< space-separated, for users
  unsigned units = 1;                          ///< CPUs this process may run on; multiprocessors of a GPU
  std::uint64_t memory_bytes = 0;              ///< 0 if unknown
  std::shared_ptr<const DeviceTraits> traits;  ///< never null: for the requirements of the backend's variants
  std::string obstacle;                        ///< why nothing can run on it; empty if it can be used
  bool by_name_only = false;                   ///< as gpu::DeviceDescription
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

/// Which backends' devices are listed.
enum class Listing : std::uint8_t {
  forkable,  ///< of backends that list them without their driver: a process may still fork afterwards
  all,
};

/// Lists the hardware again at each call. A backend's devices are hidden if the environment variable
/// MANYMOD_HIDE_CUDA or MANYMOD_HIDE_OPENCL is set to anything but "" and "0".
Hardware find_hardware(Listing listing = Listing::all);

/// The devices of this machine, listed on first use and constant afterwards. Opens no GPU.
std::span<const Device> devices(Listing listing = Listing::all);
/// The devices that a device option chooses among: at least its backend's. For "auto": those of every
/// backend, except backends that are expensive to list when a cheaper one has a GPU or they cannot have one.
std::span<const Device> devices_for(std::string_view option);
const GpuSupport& gpu_support(Backend backend);

/// The name of a backend for users: "CPU", "CUDA", "OpenCL".
const char* backend_title(Backend backend);
/// The device option that names all devices of the backend: "opencl".
const char* device_option(Backend backend);
/// The option that names one device of a backend, as Device::name does: "opencl:1".
std::string device_option(Backend backend, unsigned index);
/// The GPU backend of a device option: OpenCL for "opencl" and "opencl:1". Nothing for any other text or a
/// malformed number.
std::optional<Backend> backend_of_option(std::string_view option);
/// The device options, for messages: "'auto', 'cpu', 'cuda', 'cuda:K', 'opencl' or 'opencl:K'".
std::string device_options();

/// The GPU of that backend and index, opened on first use. @throws gpu::DeviceError
gpu::Device& gpu_device(Backend backend, unsigned index);

}  // namespace manymod
