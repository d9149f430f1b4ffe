// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/memory.hpp"

#include <cstdint>

#include "gpu/cuda/stream.hpp"
#include "repr/wipe.hpp"

namespace manymod::cuda {
namespace {

// Unified addressing: an address of device memory is none of host memory's, and as wide as a pointer.
DeviceAddress address_of(const void* device) { return reinterpret_cast<std::uintptr_t>(device); }
void* pointer_to(DeviceAddress address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

void* DeviceMemory::allocate(Device& device, std::size_t bytes) {
  DeviceAddress address = 0;
  device.call(device.api().memory_allocate, &address, bytes);
  return pointer_to(address);
}

void DeviceMemory::free(Device& device, void* data, std::size_t bytes) noexcept {
  const DriverApi& api = device.api();
  device.release(api.context_synchronize);
  device.release(api.memory_set, address_of(data), static_cast<unsigned char>(0), bytes, nullptr);
  device.release(api.context_synchronize);
  device.release(api.memory_free, address_of(data));
}

void* PinnedMemory::allocate(Device& device, std::size_t bytes) {
  void* data = nullptr;
  device.call(device.api().host_allocate, &data, bytes, kHostAllocPortable);
  return data;
}

// A forked child must not touch it: drivers may keep page-locked memory out of children.
void PinnedMemory::free(Device& device, void* data, std::size_t bytes) noexcept {
  if (!device.own_process()) return;
  const DriverApi& api = device.api();
  device.release(api.context_synchronize);
  wipe_bytes(data, bytes);
  device.release(api.host_free, data);
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
