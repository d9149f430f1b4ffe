// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/stream.hpp"

#include <utility>

namespace manymod::cuda {

Stream::Stream(Device& device) : device_(&device) {
  device.call(device.api().stream_create, &handle_, kStreamNonBlocking);
  own_ = true;
}

Stream::Stream(Stream&& from) noexcept
    : device_(from.device_),
      handle_(std::exchange(from.handle_, nullptr)),
      own_(std::exchange(from.own_, false)) {}

Stream& Stream::operator=(Stream&& from) noexcept {
  std::swap(device_, from.device_);
  std::swap(handle_, from.handle_);
  std::swap(own_, from.own_);
  return *this;
}

void Stream::destroy() noexcept {
  if (own_) device_->release(device_->api().stream_destroy, handle_);
}

void Stream::wait_for(const Event& event) const {
  device_->call(device_->api().stream_wait_event, handle_, event.handle(), 0u);
}

bool Stream::done() const {
  const auto& query = device_->api().stream_query;
  const Result result = device_->query(query, handle_);
  if (result == kErrorNotReady) return false;
  device_->check(query.name(), result);
  return true;
}

void Stream::synchronize() const { device_->call(device_->api().stream_synchronize, handle_); }

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

void Event::record(const Stream& stream) const {
  device_->call(device_->api().event_record, handle_, stream.handle());
}

bool Event::done() const {
  const auto& query = device_->api().event_query;
  const Result result = device_->query(query, handle_);
  if (result == kErrorNotReady) return false;
  device_->check(query.name(), result);
  return true;
}

void Event::wait() const { device_->call(device_->api().event_synchronize, handle_); }

double Event::seconds_since(const Event& start) const {
  float milliseconds = 0;
  device_->call(device_->api().event_elapsed_time, &milliseconds, start.handle_, handle_);
  return static_cast<double>(milliseconds) / 1000;
}

}  // namespace manymod::cuda
