// SPDX-License-Identifier: Apache-2.0
// One GPU: its primary context, which other CUDA users of the process share, and the kernels of this library
// in it.
//
// Functions may be called from any thread. They leave the thread's current context as it was.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu/cuda/driver.hpp"

namespace manymod::cuda {

class Stream;

struct DeviceProperties {
  std::string model;
  unsigned compute_capability = 0;  ///< 90 for 9.0
  unsigned multiprocessors = 0;
  unsigned threads_per_multiprocessor = 0;
  std::size_t shared_per_multiprocessor = 0;  ///< bytes
  std::size_t shared_per_block = 0;           ///< bytes, at most, where a kernel asks for it
  std::uint64_t memory_bytes = 0;
};

struct MemoryInfo {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

struct LaunchShape {
  unsigned grid = 1;   ///< blocks
  unsigned block = 1;  ///< threads of a block
  std::size_t shared_bytes = 0;
};

/// A kernel in the context of one device. Copies are as good; valid as long as the process.
class Kernel {
 public:
  Kernel(Device& device, FunctionHandle function, std::string name);

  /// Blocks of that size that a multiprocessor runs at a time; 0 if it cannot run one.
  [[nodiscard]] unsigned blocks_per_multiprocessor(unsigned block, std::size_t shared_bytes) const;
  [[nodiscard]] unsigned registers() const { return registers_; }      ///< of a thread
  [[nodiscard]] unsigned local_bytes() const { return local_bytes_; }  ///< of a thread: spills and arrays
  [[nodiscard]] unsigned max_threads() const { return max_threads_; }  ///< of a block
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Queue the kernel. The argument is copied before this returns.
  template <class Argument>
  void launch(const Stream& stream, const LaunchShape& shape, const Argument& argument) const {
    static_assert(std::is_trivially_copyable_v<Argument> && sizeof(Argument) <= 4096);
    void* parameters[] = {const_cast<Argument*>(&argument)};
    launch_with(stream, shape, parameters);
  }

 private:
  void launch_with(const Stream& stream, const LaunchShape& shape, void** parameters) const;
  [[nodiscard]] unsigned attribute(int attribute) const;

  Device* device_;
  FunctionHandle function_;
  std::string name_;
  unsigned registers_ = 0;
  unsigned local_bytes_ = 0;
  unsigned max_threads_ = 0;
};

class Device {
 public:
  /// See Driver::device.
  Device(Driver& driver, unsigned index);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  [[nodiscard]] unsigned index() const { return index_; }
  [[nodiscard]] const DeviceProperties& properties() const { return properties_; }
  [[nodiscard]] MemoryInfo memory();
  /// A kernel or the device failed: every use throws Fault::lost from now on.
  [[nodiscard]] bool lost() const { return lost_result_ != kSuccess; }

  /// @throws DriverError forked, lost. Every call checks it; to be called before touching pinned memory,
  /// which a forked child may not have.
  void check_usable() const;

  /// Found once, then remembered. @throws DriverError no_device_code if there is none of that name for this
  /// GPU
  const Kernel& kernel(const std::string& name);

  /// Wait until all that was queued, on whatever stream, is done.
  void synchronize();

  // For the classes that hold something of a device:

  [[nodiscard]] const DriverApi& api() const { return api_; }
  [[nodiscard]] bool own_process() const { return driver_.own_process(); }
  /// Call the driver with this device's context current. @throws DriverError
  template <class... Parameters, class... Arguments>
  void call(const Function<Parameters...>& function, Arguments... arguments) {
    check(function.name(), query(function, arguments...));
  }
  /// As `call`, for results that are no failure to the caller. @throws DriverError forked, lost
  template <class... Parameters, class... Arguments>
  Result query(const Function<Parameters...>& function, Arguments... arguments) {
    const ContextScope scope(*this);
    return function(arguments...);
  }
  /// For destructors: as `call`, but failures are dropped, and nothing is called in a forked child.
  template <class... Parameters, class... Arguments>
  void release(const Function<Parameters...>& function, Arguments... arguments) noexcept {
    if (!driver_.own_process()) return;
    if (enter() != kSuccess) return;  // the driver has shut down and freed everything
    function(arguments...);
    leave();
  }
  /// Throws what `result` of the driver's function `call` means, unless it is kSuccess.
  void check(const char* call, Result result);

 private:
  /// Makes the device's context current to this thread, and what was current before at its end.
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
  FunctionHandle find_in_image(std::size_t number, const std::string& name);  ///< null if not there
  void load_image(std::size_t number);
  [[nodiscard]] bool libraries() const;  ///< the driver has the functions for them

  /// One of the build's images, loaded when a kernel is first looked for in it.
  struct Image {
    LibraryHandle library = nullptr;
    ModuleHandle module = nullptr;
  };

  Driver& driver_;
  const DriverApi& api_;
  const unsigned index_;
  DeviceHandle handle_ = 0;
  ContextHandle context_ = nullptr;
  DeviceProperties properties_;
  std::atomic<const char*> lost_call_ = nullptr;  ///< set before lost_result_
  std::atomic<Result> lost_result_ = kSuccess;
  std::mutex kernels_mutex_;
  std::vector<Image> images_;
  std::map<std::string, Kernel> kernels_;
};

/// Driver::current().device(index). @throws DriverError
Device& device(unsigned index);

}  // namespace manymod::cuda
