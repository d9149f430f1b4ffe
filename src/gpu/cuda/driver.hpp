// SPDX-License-Identifier: Apache-2.0
// The CUDA driver of this process: loaded by name at run time, initialised when a device is first used.
//
// A process that was forked after the driver was initialised cannot use it. Every object that depends on the
// driver stores the process that created it; in a forked child its destructor makes no call, and every use
// throws DriverError with Fault::forked.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/cuda/device_code.hpp"
#include "gpu/cuda/driver_api.hpp"

namespace manymod::cuda {

class Device;

/// Where the driver and the kernels come from.
struct DriverSources {
  std::string driver = "libcuda.so.1";
  std::string management = "libnvidia-ml.so.1";  ///< NVML: lists GPUs without initialising the driver
  std::span<const DeviceImage> images = device_images();
  std::vector<std::string> hidden_functions;  ///< for tests: functions to treat as missing
  std::span<const CodeArchitecture> architectures = device_architectures();  ///< of the images
  std::span<const std::string_view> left_out = left_out_techniques();
  int compiler = device_compiler();  ///< of the images
};

/// The oldest CUDA version that a driver must serve for the functions that are called, as 1000 major + 10
/// minor: 12.0.
inline constexpr int kOldestDriver = 12000;
/// The same, also for machine code that the compiler of CUDA version `compiler` made: it runs on drivers of
/// the compiler's major version and of later ones (CUDA Compatibility, "minor version compatibility").
constexpr int oldest_driver(int compiler) { return std::max(kOldestDriver, compiler / 1000 * 1000); }
/// "12.0" for 12000
std::string version_text(int version);

class Driver {
 public:
  /// The driver of this process; lives as long as the process.
  static Driver& current();
  /// For tests, while nothing uses CUDA: creates a driver with these sources and makes it the current one.
  static void use(const DriverSources& sources);
  /// How many times `use` was called.
  static unsigned uses();

  Driver(DriverSources sources, bool inherited, const Driver* previous);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver();

  /// The functions of the driver, after loading and initialising it. @throws DriverError
  const DriverApi& initialised_api();

  /// 12080 for a driver that serves CUDA 12.8. Does not initialise the driver. @throws DriverError no_driver
  int version();
  /// Does not initialise the driver either. @throws DriverError no_driver, driver_too_old
  void check_version();

  /// The device; its context is retained on first use. A failed attempt is repeated at the next call.
  /// @throws DriverError
  Device& device(unsigned index);

  [[nodiscard]] const DriverSources& sources() const { return sources_; }
  /// cuInit was called, in this process or before it was forked.
  [[nodiscard]] bool initialised() const { return initialised_; }
  /// False in a forked child of the process that created this object.
  [[nodiscard]] bool own_process() const;
  [[nodiscard]] bool forked() const { return inherited_ || (initialised_ && !own_process()); }

  /// Throws the error that `result` of `function` means, unless it is kSuccess.
  template <class... Parameters>
  void check(const Function<Parameters...>& function, Result result,
             int device = DriverError::kNoDevice) const {
    if (result != kSuccess) throw_result(function.name(), result, device);
  }
  [[noreturn]] void throw_result(const char* call, Result result, int device) const;
  /// "CUDA_ERROR_OUT_OF_MEMORY"
  [[nodiscard]] std::string result_name(Result result) const;

  /// For objects that exist only after the driver was initialised.
  [[nodiscard]] const DriverApi& loaded_api() const { return *api_; }

 private:
  // The caller holds mutex_.
  void load();
  const DriverApi& usable_api();
  const DriverApi& initialise();

  const DriverSources sources_;
  const pid_t process_;
  const bool inherited_;
  const Driver* const previous_;  ///< never freed; kept reachable so that it does not count as leaked
  std::atomic<bool> initialised_;
  std::mutex mutex_;
  std::unique_ptr<const DriverApi> api_;
  int version_ = 0;
  std::optional<Result> init_result_;  ///< of cuInit, once it was called
  std::vector<std::unique_ptr<Device>> devices_;
};

/// "CUDA was initialised before this process was forked off ..."
std::string forked_message();

}  // namespace manymod::cuda
