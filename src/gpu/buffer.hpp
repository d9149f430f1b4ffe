// SPDX-License-Identifier: Apache-2.0
// Owners of memory, which zero it before they free it.
#pragma once

#include <cstddef>
#include <utility>

#include "gpu/device.hpp"

namespace manymod::gpu {

template <MemoryKind kKind>
class Buffer {
 public:
  Buffer() = default;  ///< of no bytes
  /// Contents are undefined. @throws DeviceError out_of_memory
  Buffer(Device& device, std::size_t bytes)
      : device_(&device), data_(bytes == 0 ? nullptr : device.allocate(kKind, bytes)), bytes_(bytes) {}
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
    if (data_ != nullptr) device_->free(kKind, data_, bytes_);
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

using DeviceBuffer = Buffer<MemoryKind::device>;
using PinnedBuffer = Buffer<MemoryKind::pinned>;

}  // namespace manymod::gpu
