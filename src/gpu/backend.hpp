// SPDX-License-Identifier: Apache-2.0
// A GPU backend: one driver API and the devices that it offers. dispatch/devices.cpp lists the backends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/requirements.hpp"
#include "engine/variant.hpp"
#include "gpu/device.hpp"

namespace manymod::gpu {

/// A device as it is known before it is opened.
struct DeviceDescription {
  std::string model;
  std::string features;                        ///< space-separated, for users: "sm_90"
  unsigned multiprocessors = 0;                ///< 0 if unknown
  std::uint64_t memory_bytes = 0;              ///< 0 if unknown
  std::string obstacle;                        ///< why it cannot be used; empty if it can
  bool by_name_only = false;                   ///< not a GPU: used only where a caller asks for it
  std::shared_ptr<const DeviceTraits> traits;  ///< for the requirements of the backend's variants
};

struct DeviceList {
  std::string driver;  ///< newest API version that the driver serves; empty if none was found
  std::vector<DeviceDescription> devices;  ///< in the driver's order: device(0) is the first
  std::string obstacle;                    ///< why there are none; empty if there are some
};

/// Lives as long as the process. Functions may be called from any thread.
class Backend {
 public:
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] virtual manymod::Backend id() const = 0;
  [[nodiscard]] virtual const char* name() const = 0;   ///< of devices and variants: "cuda" in "cuda:0"
  [[nodiscard]] virtual const char* title() const = 0;  ///< for users: "CUDA"

  /// Whether this build has the backend's device code.
  [[nodiscard]] virtual bool built() const = 0;
  /// Lists the devices without opening any; a process that only lists them may still fork and let its
  /// children use them, if the driver can be queried without initialising it. Does not throw DeviceError.
  [[nodiscard]] virtual DeviceList list_devices() const = 0;
  /// Whether list_devices always initialises the driver. If so, callers that may not need the devices ask
  /// may_have_gpu first.
  [[nodiscard]] virtual bool listing_initialises() const { return false; }
  /// Whether this machine may have a GPU for the backend, without looking at the driver.
  [[nodiscard]] virtual bool may_have_gpu() const { return true; }
  /// Changes when tests replace the driver: what list_devices returned before is then out of date.
  [[nodiscard]] virtual unsigned generation() const = 0;

  /// Takes note that a technique's kernels compute wrong results on a device: its variants are not selected
  /// for it any more.
  virtual void disqualify([[maybe_unused]] unsigned device_index, [[maybe_unused]] const char* technique,
                          [[maybe_unused]] const std::string& reason) const {}

  /// Opened on first use. @throws DeviceError
  [[nodiscard]] virtual Device& device(unsigned index) const = 0;

 protected:
  Backend() = default;
  ~Backend() = default;
};

}  // namespace manymod::gpu
