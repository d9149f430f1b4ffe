// SPDX-License-Identifier: Apache-2.0
// One CUDA GPU: its primary context, which other users of CUDA in the process share, and this library's
// kernels in it.
//
// Functions may be called from any thread. They leave the thread's current context unchanged.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/published_once.hpp"
#include "gpu/cuda/driver.hpp"
#include "gpu/cuda/kernel.hpp"
#include "gpu/device.hpp"

namespace manymod::cuda {

class Device final : public gpu::Device {
 public:
  /// See Driver::device.
  Device(Driver& driver, unsigned index);
  ~Device() override;

  [[nodiscard]] unsigned compute_capability() const { return compute_capability_; }  ///< 90 for 9.0
  /// Whether a kernel or the device failed, after which every use throws Fault::lost.
  [[nodiscard]] bool lost() const { return lost_.has_value(); }

  void check_usable() const override;
  const Kernel& kernel(const gpu::KernelId& id) override;
  [[nodiscard]] std::unique_ptr<gpu::Stream> make_stream() override;
  [[nodiscard]] std::unique_ptr<gpu::Stream> borrow_stream(void* native_handle) override;
  [[nodiscard]] std::unique_ptr<gpu::Event> make_event() override;
  [[nodiscard]] std::optional<unsigned> owner_of(const void* address) override;
  [[nodiscard]] void* allocate(gpu::MemoryKind kind, std::size_t bytes) override;
  void free(gpu::MemoryKind kind, void* data, std::size_t bytes) noexcept override;

  // For kernels, streams and events:

  [[nodiscard]] const DriverApi& api() const { return api_; }
  /// Calls the driver with this device's context current. @throws DriverError
  template <class... Parameters, class... Arguments>
  void call(const Function<Parameters...>& function, Arguments... arguments) {
    check(function.name(), query(function, arguments...));
  }
  /// As `call`, but returns the result instead of throwing. @throws DriverError forked, lost
  template <class... Parameters, class... Arguments>
  Result query(const Function<Parameters...>& function, Arguments... arguments) {
    const ContextScope scope(*this);
    return function(arguments...);
  }
  /// For destructors: as `call`, but ignores failures and does nothing in a forked child.
  template <class... Parameters, class... Arguments>
  void release(const Function<Parameters...>& function, Arguments... arguments) noexcept {
    if (!driver_.own_process()) return;
    if (enter() != kSuccess) return;  // the driver has shut down and freed everything
    function(arguments...);
    leave();
  }
  /// Throws the error that `result` of the driver's function `call` means, unless it is kSuccess.
  void check(const char* call, Result result);

 private:
  /// Makes the device's context current to this thread, and restores the previous one at the end.
  class ContextScope {
   public:
    explicit ContextScope(Device& device);
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;
    ~ContextScope() { device_.leave(); }

   private:
    Device& device_;
  };

  [[nodiscard]] Result enter() noexcept;
  void leave() noexcept;
  void read_properties();
  [[nodiscard]] int device_attribute(int attribute) const;
  FunctionHandle find_function(const std::string& name);
  FunctionHandle find_in_image(std::size_t number, const std::string& name);  ///< null if it is not there
  void load_image(std::size_t number);
  [[nodiscard]] bool has_libraries() const;  ///< the driver has the functions for them (CUDA 12.0)

  /// One of the build's images, loaded when a kernel is first looked for in it.
  struct Image {
    LibraryHandle library = nullptr;
    ModuleHandle module = nullptr;
  };

  Driver& driver_;
  const DriverApi& api_;
  DeviceHandle handle_ = 0;
  ContextHandle context_ = nullptr;
  unsigned compute_capability_ = 0;
  PublishedOnce<std::string> lost_;  ///< by which failure it was lost
  std::mutex kernels_mutex_;
  std::vector<Image> images_;
  std::map<std::string, Kernel> kernels_;
};

/// Driver::current().device(index). @throws DriverError
Device& device(unsigned index);

}  // namespace manymod::cuda
