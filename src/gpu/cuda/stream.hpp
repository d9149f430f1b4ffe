// SPDX-License-Identifier: Apache-2.0
// CUDA streams and events. Destructors never throw.
#pragma once

#include "gpu/cuda/device.hpp"
#include "gpu/cuda/driver_api.hpp"
#include "gpu/stream.hpp"

namespace manymod::cuda {

class Stream final : public gpu::Stream {
 public:
  /// A non-blocking stream.
  explicit Stream(Device& device);
  /// A stream that the caller created and will destroy. nullptr: the legacy default stream, which waits for
  /// the work of all streams except the non-blocking ones.
  static Stream borrowed(Device& device, StreamHandle handle) { return {device, handle}; }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream(Stream&& from) noexcept;
  Stream& operator=(Stream&& from) noexcept;
  ~Stream() override { destroy(); }

  [[nodiscard]] Device& device() const override { return *device_; }
  [[nodiscard]] StreamHandle handle() const { return handle_; }

  void copy_to_device(void* device, const void* host, std::size_t bytes) const override;
  void copy_to_host(void* host, const void* device, std::size_t bytes) const override;
  void copy_on_device(void* to, const void* from, std::size_t bytes) const override;
  void set_bytes(void* device, unsigned char value, std::size_t bytes) const override;
  void synchronize() const override;
  void drain() const noexcept override;

 private:
  Stream(Device& device, StreamHandle borrowed) : device_(&device), handle_(borrowed) {}
  void destroy() noexcept;
  Device* device_;
  StreamHandle handle_ = nullptr;
  bool owned_ = false;
};

class Event final : public gpu::Event {
 public:
  enum class Timing : bool { off, on };
  explicit Event(Device& device, Timing timing = Timing::off);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&& from) noexcept;
  Event& operator=(Event&& from) noexcept;
  ~Event() override { destroy(); }

  void record(const gpu::Stream& stream) const override;
  void wait() const override;
  /// Seconds from `start` to this event. Both have Timing::on, and the work before both is done.
  [[nodiscard]] double seconds_since(const Event& start) const;

 private:
  void destroy() noexcept;
  Device* device_;
  EventHandle handle_ = nullptr;
};

/// The handle of a stream of this backend.
inline StreamHandle handle_of(const gpu::Stream& stream) {
  return static_cast<const Stream&>(stream).handle();
}

/// Unified addressing: device memory has addresses that host memory does not have, as wide as pointers.
DeviceAddress address_of(const void* device);

}  // namespace manymod::cuda
