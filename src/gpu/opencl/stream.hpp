// SPDX-License-Identifier: Apache-2.0
// Command queues, which run their commands in order, and events. Destructors never throw.
#pragma once

#include "gpu/opencl/device.hpp"
#include "gpu/stream.hpp"

namespace manymod::opencl {

class Stream final : public gpu::Stream {
 public:
  explicit Stream(Device& device) : device_(device), queue_(device.make_queue()), owned_(true) {}
  /// A queue that the caller created and will release.
  Stream(Device& device, QueueHandle borrowed) : device_(device), queue_(borrowed), owned_(false) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() override {
    if (owned_) device_.release_queue(queue_);
  }

  [[nodiscard]] Device& device() const override { return device_; }
  [[nodiscard]] QueueHandle queue() const { return queue_; }

  void copy_to_device(void* device, const void* host, std::size_t bytes) const override;
  void copy_to_host(void* host, const void* device, std::size_t bytes) const override;
  void copy_on_device(void* to, const void* from, std::size_t bytes) const override;
  void set_bytes(void* device, unsigned char value, std::size_t bytes) const override;
  void synchronize() const override;
  void drain() const noexcept override;

 private:
  Device& device_;
  QueueHandle queue_;
  bool owned_;
};

class Event final : public gpu::Event {
 public:
  explicit Event(Device& device) : device_(device) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() override { forget(); }

  void record(const gpu::Stream& stream) const override;
  void wait() const override;

 private:
  Device& device_;
  mutable EventHandle handle_ = nullptr;  ///< OpenCL makes an event for each mark

  void forget() const noexcept;
};

/// The queue of a stream of this backend.
inline QueueHandle queue_of(const gpu::Stream& stream) { return static_cast<const Stream&>(stream).queue(); }

}  // namespace manymod::opencl
