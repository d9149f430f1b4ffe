// SPDX-License-Identifier: Apache-2.0
// Queues of work on a device, and events that mark positions in them.
#pragma once

#include <cstddef>

namespace manymod::gpu {

class Device;
class Stream;

/// Marks a position in a stream.
class Event {
 public:
  virtual ~Event() = default;

  /// Marks the end of the work that has been enqueued so far. @throws DeviceError
  virtual void record(const Stream& stream) const = 0;
  /// Sleeps until the work before the mark is done; returns at once if nothing was recorded.
  /// @throws DeviceError
  virtual void wait() const = 0;

 protected:
  Event() = default;
  Event(const Event&) = default;
  Event& operator=(const Event&) = default;
};

/// Work in one stream runs in order; work in different streams may run concurrently. Addresses of device
/// memory are plain pointers. All functions may throw DeviceError.
class Stream {
 public:
  virtual ~Stream() = default;

  [[nodiscard]] virtual Device& device() const = 0;

  // These enqueue the operation. Host memory must stay valid and unchanged until the copy is done; a copy
  // overlaps with other work only if its host memory is pinned. 0 bytes are allowed.
  virtual void copy_to_device(void* device, const void* host, std::size_t bytes) const = 0;
  virtual void copy_to_host(void* host, const void* device, std::size_t bytes) const = 0;
  virtual void copy_on_device(void* to, const void* from, std::size_t bytes) const = 0;
  virtual void set_bytes(void* device, unsigned char value, std::size_t bytes) const = 0;

  /// Waits for all work in the stream. The thread may spin; Event::wait sleeps.
  virtual void synchronize() const = 0;
  /// The same for a stream that is given up: a device that fails does no work, so that nothing is thrown.
  virtual void drain() const noexcept = 0;

 protected:
  Stream() = default;
  Stream(const Stream&) = default;
  Stream& operator=(const Stream&) = default;
};

}  // namespace manymod::gpu
