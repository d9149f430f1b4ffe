// SPDX-License-Identifier: Apache-2.0
#include "cuda/memory.hpp"

#include <cstdint>
#include <utility>

#include "cuda/stream.hpp"
#include "repr/wipe.hpp"

namespace manymod::cuda {
namespace {

// Unified addressing: an address of device memory is none of host memory's, and as wide as a pointer.
DeviceAddress address_of(const void* device) { return reinterpret_cast<std::uintptr_t>(device); }
void* pointer_to(DeviceAddress address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

DeviceBuffer::DeviceBuffer(Device& device, std::size_t bytes) : device_(&device) {
  if (bytes == 0) return;
  DeviceAddress address = 0;
  device.call(device.api().memory_allocate, &address, bytes);
  data_ = pointer_to(address);
  bytes_ = bytes;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& from) noexcept
    : device_(from.device_),
      data_(std::exchange(from.data_, nullptr)),
      bytes_(std::exchange(from.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& from) noexcept {
  std::swap(device_, from.device_);
  std::swap(data_, from.data_);
  std::swap(bytes_, from.bytes_);
  return *this;
}

void DeviceBuffer::free() noexcept {
  if (data_ == nullptr) return;
  const DriverApi& api = device_->api();
  device_->release(api.context_synchronize);
  device_->release(api.memory_set, address_of(data_), static_cast<unsigned char>(0), bytes_, nullptr);
  device_->release(api.context_synchronize);
  device_->release(api.memory_free, address_of(data_));
}

PinnedBuffer::PinnedBuffer(Device& device, std::size_t bytes) : device_(&device) {
  if (bytes == 0) return;
  device.call(device.api().host_allocate, &data_, bytes, kHostAllocPortable);
  bytes_ = bytes;
}

PinnedBuffer::PinnedBuffer(PinnedBuffer&& from) noexcept
    : device_(from.device_),
      data_(std::exchange(from.data_, nullptr)),
      bytes_(std::exchange(from.bytes_, 0)) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& from) noexcept {
  std::swap(device_, from.device_);
  std::swap(data_, from.data_);
  std::swap(bytes_, from.bytes_);
  return *this;
}

// A forked child must not touch it: drivers may keep page-locked memory out of children.
void PinnedBuffer::free() noexcept {
  if (data_ == nullptr || !device_->own_process()) return;
  const DriverApi& api = device_->api();
  device_->release(api.context_synchronize);
  wipe_bytes(data_, bytes_);
  device_->release(api.host_free, data_);
}

void copy_to_device(const Stream& stream, void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  Device& on = stream.device();
  on.call(on.api().copy_to_device, address_of(device), host, bytes, stream.handle());
}

void copy_to_host(const Stream& stream, void* host, const void* device, std::size_t bytes) {
  if (bytes == 0) return;
  Device& on = stream.device();
  on.call(on.api().copy_to_host, host, address_of(device), bytes, stream.handle());
}

void copy_on_device(const Stream& stream, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  Device& on = stream.device();
  on.call(on.api().copy_on_device, address_of(to), address_of(from), bytes, stream.handle());
}

void set_bytes(const Stream& stream, void* device, unsigned char value, std::size_t bytes) {
  if (bytes == 0) return;
  Device& on = stream.device();
  on.call(on.api().memory_set, address_of(device), value, bytes, stream.handle());
}

std::optional<unsigned> device_of(Device& any_device, const void* pointer) {
  const auto& attribute = any_device.api().pointer_attribute;
  unsigned type = 0;
  const Result known = any_device.query(attribute, &type, kPointerMemoryType, address_of(pointer));
  if (known == kErrorInvalidValue) return std::nullopt;
  any_device.check(attribute.name(), known);
  if (type != kMemoryTypeDevice) return std::nullopt;
  int ordinal = 0;
  any_device.call(attribute, &ordinal, kPointerDeviceOrdinal, address_of(pointer));
  return static_cast<unsigned>(ordinal);
}

}  // namespace manymod::cuda
