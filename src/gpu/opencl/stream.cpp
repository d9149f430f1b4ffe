// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/stream.hpp"

#include <utility>

#include "gpu/opencl/fill.hpp"

namespace manymod::opencl {

void Stream::copy_to_device(void* device, const void* host, std::size_t bytes) const {
  if (bytes == 0) return;
  const Place to = device_.place_of(device);
  device_.call(device_.api().enqueue_write, queue_, to.memory, Bool{0}, to.offset, bytes, host, 0u, nullptr,
               nullptr);
}

void Stream::copy_to_host(void* host, const void* device, std::size_t bytes) const {
  if (bytes == 0) return;
  const Place from = device_.place_of(device);
  device_.call(device_.api().enqueue_read, queue_, from.memory, Bool{0}, from.offset, bytes, host, 0u,
               nullptr, nullptr);
}

void Stream::copy_on_device(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0) return;
  const Place target = device_.place_of(to), source = device_.place_of(from);
  device_.call(device_.api().enqueue_copy, queue_, source.memory, target.memory, source.offset, target.offset,
               bytes, 0u, nullptr, nullptr);
}

void Stream::set_bytes(void* device, unsigned char value, std::size_t bytes) const {
  if (bytes == 0) return;
  const Place place = device_.place_of(device);
  const Pattern& pattern = pattern_of(value);
  const FillRanges ranges = fill_ranges(place.offset, bytes);
  const auto write = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    device_.call(device_.api().enqueue_write, queue_, place.memory, Bool{0}, begin, end - begin,
                 pattern.data(), 0u, nullptr, nullptr);
  };
  write(ranges.begin, ranges.first);
  if (ranges.first < ranges.last) {
    device_.call(device_.api().enqueue_fill, queue_, place.memory, pattern.data(), kPatternBytes,
                 ranges.first, ranges.last - ranges.first, 0u, nullptr, nullptr);
  }
  write(ranges.last, ranges.end);
  // A driver may keep commands back until then: secrets are zeroed after the last result is there.
  device_.call(device_.api().flush, queue_);
}

void Stream::synchronize() const { device_.call(device_.api().finish, queue_); }

void Stream::drain() const noexcept { device_.release(device_.api().finish, queue_); }

void Event::record(const gpu::Stream& stream) const {
  forget();
  device_.call(device_.api().enqueue_marker, queue_of(stream), 0u, nullptr, &handle_);
  // A driver may keep commands back until then.
  device_.call(device_.api().flush, queue_of(stream));
}

void Event::wait() const {
  if (handle_ == nullptr) return;
  device_.call(device_.api().wait_for_events, 1u, &handle_);
}

void Event::forget() const noexcept {
  EventHandle const handle = std::exchange(handle_, nullptr);
  if (handle != nullptr) device_.release(device_.api().release_event, handle);
}

}  // namespace manymod::opencl
