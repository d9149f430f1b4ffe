// SPDX-License-Identifier: Apache-2.0
// Owners of memory, which zero it before they free it.
#pragma once

#include <algorithm>
#include <bit>
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

  /// Ensures that there are at least `bytes` bytes; if it grows, the contents are lost. Sizes are rounded up,
  /// by a quarter at most: batches that become longer and longer should allocate seldom, as the device
  /// finishes all of its work before memory is freed. @throws DeviceError out_of_memory; it is empty then
  void require(Device& device, std::size_t bytes) {
    if (bytes <= bytes_) return;
    *this = Buffer();  // first, as there may be no memory for both
    *this = Buffer(device, rounded_up(bytes));
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

  static constexpr std::size_t rounded_up(std::size_t bytes) {
    const std::size_t step = std::max<std::size_t>(1, std::bit_floor(bytes) / 4);
    return (bytes - 1) / step * step + step;
  }
};

using DeviceBuffer = Buffer<MemoryKind::device>;
using PinnedBuffer = Buffer<MemoryKind::pinned>;

}  // namespace manymod::gpu
