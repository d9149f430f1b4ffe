// SPDX-License-Identifier: Apache-2.0
// Queues of work on a device, and marks in them. Destructors never throw.
#pragma once

#include "gpu/cuda/device.hpp"

namespace manymod::cuda {

class Event;

/// Work on one stream runs in order; streams run side by side.
class Stream {
 public:
  explicit Stream(Device& device);
  /// One that somebody else made and destroys. nullptr: the legacy default stream, which waits for the work
  /// of all streams that are not non-blocking.
  static Stream borrowed(Device& device, StreamHandle handle) { return {device, handle}; }
  Stream(Stream&& from) noexcept;
  Stream& operator=(Stream&& from) noexcept;
  ~Stream() { destroy(); }

  /// What is queued from now on starts after `event`, which may be of another stream.
  void wait_for(const Event& event) const;
  [[nodiscard]] bool done() const;
  /// Wait for all that is queued. The thread may spin; Event::wait sleeps.
  void synchronize() const;

  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] StreamHandle handle() const { return handle_; }

 private:
  Stream(Device& device, StreamHandle borrowed) : device_(&device), handle_(borrowed) {}
  void destroy() noexcept;
  Device* device_;
  StreamHandle handle_ = nullptr;
  bool own_ = false;
};

/// A mark in a stream.
class Event {
 public:
  enum class Timing : bool { off, on };
  explicit Event(Device& device, Timing timing = Timing::off);
  Event(Event&& from) noexcept;
  Event& operator=(Event&& from) noexcept;
  ~Event() { destroy(); }

  void record(const Stream& stream) const;
  /// Whether the work before the last `record` is done; true if there was none.
  [[nodiscard]] bool done() const;
  /// Sleep until it is done.
  void wait() const;
  /// Seconds from `start` to this event; both have Timing::on and are done.
  [[nodiscard]] double seconds_since(const Event& start) const;

  [[nodiscard]] EventHandle handle() const { return handle_; }

 private:
  void destroy() noexcept;
  Device* device_;
  EventHandle handle_ = nullptr;
};

}  // namespace manymod::cuda
