// SPDX-License-Identifier: Apache-2.0
// One GPU of any backend: the kernels of this library on it, its memory and its streams.
//
// Functions may be called from any thread and throw DeviceError. After a fork the child must not use devices
// of its parent: every function throws Fault::forked there, and destructors release nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gpu/idle_memory.hpp"
#include "gpu/kernel.hpp"
#include "gpu/stream.hpp"

namespace manymod::gpu {

struct DeviceProperties {
  std::string model;
  unsigned multiprocessors = 0;      ///< CUDA's multiprocessors, OpenCL's compute units
  std::size_t shared_per_block = 0;  ///< most bytes of shared memory that a block may have
  std::uint64_t memory_bytes = 0;
};

enum class MemoryKind : std::uint8_t {
  device,
  pinned,  ///< page-locked host memory, which every device of the backend copies at full speed
};

class Device {
 public:
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] unsigned index() const { return index_; }  ///< 1 for "cuda:1"
  [[nodiscard]] const DeviceProperties& properties() const { return properties_; }
  /// Not to be used in a forked child.
  [[nodiscard]] IdleMemories& idle_memories() { return idle_memories_; }

  /// Every other function checks this too. Call it before accessing pinned memory, which a forked child may
  /// not have.
  /// @throws DeviceError forked, lost
  virtual void check_usable() const = 0;

  /// Loaded on first use, then valid as long as the process.
  /// @throws DeviceError no_device_code if this build has no such kernel for this GPU, or the driver cannot
  /// compile it
  virtual const Kernel& kernel(const KernelId& id) = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  /// The caller's own stream, which is not destroyed: `native_handle` is the backend's (CUDA: a CUstream;
  /// null for the legacy default stream).
  [[nodiscard]] virtual std::unique_ptr<Stream> borrow_stream(void* native_handle) = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;

  /// Index of the device of this backend whose memory `address` is in; nothing if it is host memory or
  /// unknown to the driver.
  [[nodiscard]] virtual std::optional<unsigned> owner_of(const void* address) = 0;

  // For Buffer (gpu/buffer.hpp):

  /// Contents are undefined; bytes > 0. @throws DeviceError out_of_memory
  [[nodiscard]] virtual void* allocate(MemoryKind kind, std::size_t bytes) = 0;
  /// Waits for all work on the device, so that no copy writes to freed memory, and zeroes the memory before
  /// it frees it: its contents may be secret.
  virtual void free(MemoryKind kind, void* data, std::size_t bytes) noexcept = 0;

 protected:
  explicit Device(unsigned index) : index_(index) {}
  DeviceProperties properties_;

 private:
  const unsigned index_;
  IdleMemories idle_memories_;
};

}  // namespace manymod::gpu
