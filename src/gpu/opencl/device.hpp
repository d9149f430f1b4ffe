// SPDX-License-Identifier: Apache-2.0
// One OpenCL device: a context of its own, and this library's kernels, which are built for it when they are
// first used.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "core/published_once.hpp"
#include "gpu/device.hpp"
#include "gpu/opencl/driver.hpp"
#include "gpu/opencl/kernel.hpp"
#include "gpu/opencl/memory_map.hpp"

namespace manymod::opencl {

/// A buffer that is released at the end.
class OwnedMemory {
 public:
  OwnedMemory(Device& device, MemoryHandle handle) : device_(device), handle_(handle) {}
  OwnedMemory(const OwnedMemory&) = delete;
  OwnedMemory& operator=(const OwnedMemory&) = delete;
  ~OwnedMemory();
  [[nodiscard]] MemoryHandle get() const { return handle_; }

 private:
  Device& device_;
  MemoryHandle handle_;
};

class Device final : public gpu::Device {
 public:
  /// See Driver::device.
  Device(Driver& driver, unsigned index, const DeviceFacts& facts);
  ~Device() override;

  void check_usable() const override;
  const Kernel& kernel(const gpu::KernelId& id) override;
  [[nodiscard]] std::unique_ptr<gpu::Stream> make_stream() override;
  /// On input: a cl_command_queue of this device's context.
  [[nodiscard]] std::unique_ptr<gpu::Stream> borrow_stream(void* native_handle) override;
  [[nodiscard]] std::unique_ptr<gpu::Event> make_event() override;
  [[nodiscard]] std::optional<unsigned> owner_of(const void* address) override;
  [[nodiscard]] void* allocate(gpu::MemoryKind kind, std::size_t bytes) override;
  void free(gpu::MemoryKind kind, void* data, std::size_t bytes) noexcept override;

  [[nodiscard]] bool is_cpu() const { return facts_.is_cpu; }

  // For kernels, streams and events:

  [[nodiscard]] const DriverApi& api() const { return driver_.api(); }
  [[nodiscard]] DeviceHandle handle() const { return facts_.handle; }
  [[nodiscard]] const MemoryMap& memory() const { return memory_; }
  /// @throws DriverError for an address that is not in the device's memory
  [[nodiscard]] Place place_of(const void* address) const;
  /// Constant memory with these bytes. @throws DriverError
  [[nodiscard]] OwnedMemory copy_of(const void* data, std::size_t bytes);
  [[nodiscard]] QueueHandle make_queue();
  void release_queue(QueueHandle queue) noexcept;

  /// Calls the driver. @throws DriverError
  template <class... Parameters, class... Arguments>
  void call(const Function<Status, Parameters...>& function, Arguments... arguments) {
    check_usable();
    judge(function.name(), function(arguments...));
  }
  /// Calls a function of the driver that returns an object, and its status by its last parameter.
  template <class Object, class... Parameters, class... Arguments>
  Object create(const Function<Object, Parameters...>& function, Arguments... arguments) {
    check_usable();
    Status status = kSuccess;
    const Object object = function(arguments..., &status);
    judge(function.name(), status);
    return object;
  }
  /// For destructors: as `call`, but ignores failures and does nothing in a forked child.
  template <class... Parameters, class... Arguments>
  void release(const Function<Status, Parameters...>& function, Arguments... arguments) noexcept {
    if (driver_.own_process()) function(arguments...);
  }

 private:
  /// A function of the driver, and what it returned.
  struct Failure {
    const char* call = nullptr;
    Status status = kSuccess;
  };

  Driver& driver_;
  const DeviceFacts& facts_;
  ContextHandle context_ = nullptr;
  PublishedOnce<std::string> lost_;  ///< by which failure it was lost
  mutable std::mutex shortage_mutex_;
  Failure shortage_;  ///< the last one that meant a lack of memory
  std::mutex kernels_mutex_;
  std::map<std::string, Kernel> kernels_;
  std::mutex queues_mutex_;
  std::set<QueueHandle> queues_;
  MemoryMap memory_;
  std::mutex pinned_mutex_;
  std::map<void*, MemoryHandle> pinned_;

  // Throws what the status means, and remembers that the device is lost.
  void judge(const char* call, Status status);
  // Remembers the failure if it means that memory was short.
  void note_shortage(const Failure& failure) noexcept;
  [[nodiscard]] Failure last_shortage() const;
  // Whether commands run in a new queue.
  [[nodiscard]] bool runs_commands() noexcept;
  // Runs a command of zeroing or unmapping memory in a queue of its own, and waits for it: a queue that
  // others use as well may have been invalidated by one of their commands. @return whether it ran
  template <class Command, class... Arguments>
  bool run_apart(const Command& command, Arguments... arguments) noexcept;
  // `bytes`: whole patterns (fill.hpp). @return whether it ran
  bool zero(MemoryHandle memory, std::size_t bytes) noexcept;
  void finish_all() noexcept;
  [[nodiscard]] void* allocate_pinned(std::size_t bytes);
  void free_pinned(void* data, std::size_t bytes) noexcept;
};

}  // namespace manymod::opencl
