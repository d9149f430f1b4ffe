// SPDX-License-Identifier: Apache-2.0
// The OpenCL drivers of this process: the loader library is opened by name when devices are first looked for,
// and it loads the installed drivers.
//
// A process that was forked after that cannot use them: drivers have threads and connections of their own
// then. Every object that depends on the driver stores the process that created it; in a forked child its
// destructor makes no call, and every use throws DriverError with Fault::forked.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "gpu/opencl/driver_api.hpp"
#include "gpu/opencl/kernel_source.hpp"
#include "gpu/opencl/requirements.hpp"

namespace manymod::opencl {

class Device;

/// Work-items of a work-group of every program: a multiple of the vector length of all GPUs.
inline constexpr unsigned kWorkGroup = 64;

/// Where the drivers and the kernels come from.
struct DriverSources {
  std::string loader = "libOpenCL.so.1";
  std::span<const KernelSource> kernels = kernel_sources();
  // For tests: functions to treat as missing, and to call instead of the driver's.
  std::vector<std::string> hidden_functions = {};
  std::map<std::string, void*> replaced_functions = {};
};

/// A device as its driver describes it.
struct DeviceFacts {
  PlatformHandle platform = nullptr;
  DeviceHandle handle = nullptr;
  std::string name, vendor, platform_name;
  std::string driver_version;  ///< of the vendor
  std::string version;         ///< of OpenCL: "OpenCL 3.0 CUDA"
  bool is_cpu = false;
  Doubles doubles = Doubles::none;
  unsigned compute_units = 0;
  std::size_t work_group_size = 0;  ///< most work-items of a work-group
  std::size_t local_bytes = 0;      ///< local memory of a work-group
  std::uint64_t memory_bytes = 0;
  std::string obstacle;  ///< why it cannot be used; empty if it can
};

class Driver {
 public:
  /// The driver of this process; lives as long as the process.
  static Driver& current();
  /// For tests, while nothing uses OpenCL: creates a driver with these sources and makes it the current one.
  static void use(const DriverSources& sources);
  /// How many times `use` was called.
  static unsigned uses();

  Driver(DriverSources sources, const Driver* inherited_from, bool forked);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver();

  /// The devices of all platforms, in the order of the loader. @throws DriverError if there is no driver
  std::span<const DeviceFacts> devices();

  /// The device; its context is created on first use. A failed attempt is repeated at the next call.
  /// @throws DriverError
  Device& device(unsigned index);

  [[nodiscard]] const DriverSources& sources() const { return sources_; }
  /// Whether the drivers were loaded before this process was forked.
  [[nodiscard]] bool forked() const { return forked_ || (loaded_ && !own_process()); }
  /// False in a forked child of the process that created this object.
  [[nodiscard]] bool own_process() const;
  /// For objects that exist only after the loader was opened.
  [[nodiscard]] const DriverApi& api() const { return *api_; }

 private:
  const DriverSources sources_;
  const pid_t process_;
  const bool forked_;
  /// Never freed; kept reachable so that it does not count as leaked.
  [[maybe_unused]] const Driver* const previous_;
  std::atomic<bool> loaded_ = false;
  std::mutex mutex_;
  std::unique_ptr<const DriverApi> api_;
  std::vector<DeviceFacts> facts_;
  bool listed_ = false;
  std::vector<std::unique_ptr<Device>> devices_;

  // The caller holds mutex_.
  void load();
  void list();
};

/// "OpenCL was initialised before this process was forked off ..."
std::string forked_message();

/// Throws what `status` of the driver's function `call` means, unless it is kSuccess.
void check(const char* call, Status status, int device = DriverError::kNoDevice);

}  // namespace manymod::opencl
