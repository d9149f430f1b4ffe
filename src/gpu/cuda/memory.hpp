// SPDX-License-Identifier: Apache-2.0
// Memory of a device and memory of the host that devices copy at full speed. Both are zeroed before they are
// freed, for what they held may be secret. Addresses of device memory are plain pointers, as kernels take
// them.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "gpu/cuda/device.hpp"

namespace manymod::cuda {

class Stream;

/// Memory of a kind: `Kind::allocate(device, bytes)` and `Kind::free(device, data, bytes)`. Freed only after
/// all work on the device is done, so a failure half way leaves no copy that writes to freed memory.
template <class Kind>
class Buffer {
 public:
  Buffer() = default;  ///< of no bytes
  /// Contents are undefined. @throws DriverError out_of_memory
  Buffer(Device& device, std::size_t bytes)
      : device_(&device), data_(bytes == 0 ? nullptr : Kind::allocate(device, bytes)), bytes_(bytes) {}
  Buffer(Buffer&& from) noexcept
      : device_(from.device_),
        data_(std::exchange(from.data_, nullptr)),
        bytes_(std::exchange(from.bytes_, 0)) {}
  Buffer& operator=(Buffer&& from) noexcept {
    std::swap(device_, from.device_);
    std::swap(data_, from.data_);
    std::swap(bytes_, from.bytes_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) Kind::free(*device_, data_, bytes_);
  }

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Device* device_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct DeviceMemory {
  static void* allocate(Device& device, std::size_t bytes);
  static void free(Device& device, void* data, std::size_t bytes) noexcept;
};
struct PinnedMemory {
  static void* allocate(Device& device, std::size_t bytes);
  static void free(Device& device, void* data, std::size_t bytes) noexcept;
};

using DeviceBuffer = Buffer<DeviceMemory>;
/// Page-locked memory of the host, the same for all devices.
using PinnedBuffer = Buffer<PinnedMemory>;

// Queued on the stream. The host's memory must stay as it is until the copy is done; copies overlap with
// other work only from and to pinned memory. 0 bytes are allowed.
void copy_to_device(const Stream& stream, void* device, const void* host, std::size_t bytes);
void copy_to_host(const Stream& stream, void* host, const void* device, std::size_t bytes);
void copy_on_device(const Stream& stream, void* to, const void* from, std::size_t bytes);
void set_bytes(const Stream& stream, void* device, unsigned char value, std::size_t bytes);

/// Number of the device whose memory `pointer` is in; none if it is the host's memory, or not known to the
/// driver.
std::optional<unsigned> device_of(Device& any_device, const void* pointer);

}  // namespace manymod::cuda
