// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/stream.hpp"

#include <cstdint>
#include <utility>

namespace manymod::cuda {

DeviceAddress address_of(const void* device) { return reinterpret_cast<std::uintptr_t>(device); }

Stream::Stream(Device& device) : device_(&device) {
  device.call(device.api().stream_create, &handle_, kStreamNonBlocking);
  owned_ = true;
}

Stream::Stream(Stream&& from) noexcept
    : device_(from.device_),
      handle_(std::exchange(from.handle_, nullptr)),
      owned_(std::exchange(from.owned_, false)) {}

Stream& Stream::operator=(Stream&& from) noexcept {
  std::swap(device_, from.device_);
  std::swap(handle_, from.handle_);
  std::swap(owned_, from.owned_);
  return *this;
}

void Stream::destroy() noexcept {
  if (owned_) device_->release(device_->api().stream_destroy, handle_);
}

void Stream::copy_to_device(void* device, const void* host, std::size_t bytes) const {
  if (bytes == 0) return;
  device_->call(device_->api().copy_to_device, address_of(device), host, bytes, handle_);
}

void Stream::copy_to_host(void* host, const void* device, std::size_t bytes) const {
  if (bytes == 0) return;
  device_->call(device_->api().copy_to_host, host, address_of(device), bytes, handle_);
}

void Stream::copy_on_device(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0) return;
  device_->call(device_->api().copy_on_device, address_of(to), address_of(from), bytes, handle_);
}

void Stream::set_bytes(void* device, unsigned char value, std::size_t bytes) const {
  if (bytes == 0) return;
  device_->call(device_->api().memory_set, address_of(device), value, bytes, handle_);
}

void Stream::synchronize() const { device_->call(device_->api().stream_synchronize, handle_); }

void Stream::drain() const noexcept { device_->release(device_->api().stream_synchronize, handle_); }

Event::Event(Device& device, Timing timing) : device_(&device) {
  const unsigned flags = kEventBlockingSync | (timing == Timing::off ? kEventDisableTiming : 0u);
  device.call(device.api().event_create, &handle_, flags);
}

Event::Event(Event&& from) noexcept : device_(from.device_), handle_(std::exchange(from.handle_, nullptr)) {}

Event& Event::operator=(Event&& from) noexcept {
  std::swap(device_, from.device_);
  std::swap(handle_, from.handle_);
  return *this;
}

void Event::destroy() noexcept {
  if (handle_ != nullptr) device_->release(device_->api().event_destroy, handle_);
}

void Event::record(const gpu::Stream& stream) const {
  device_->call(device_->api().event_record, handle_, handle_of(stream));
}

void Event::wait() const { device_->call(device_->api().event_synchronize, handle_); }

double Event::seconds_since(const Event& start) const {
  float milliseconds = 0;
  device_->call(device_->api().event_elapsed_time, &milliseconds, start.handle_, handle_);
  return static_cast<double>(milliseconds) / 1000;
}

}  // namespace manymod::cuda
