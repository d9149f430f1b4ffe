// SPDX-License-Identifier: Apache-2.0
// What one chunk of a batch needs on a device: a stream and buffers that grow as needed and are used again.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <semaphore>
#include <vector>

#include "cuda/memory.hpp"
#include "cuda/stream.hpp"

namespace manymod::device {

/// Offsets of arrays in one buffer, each aligned to 256 bytes.
class Layout {
 public:
  /// @return the array's offset
  std::size_t add(std::size_t bytes) {
    const std::size_t at = bytes_;
    bytes_ = (bytes_ + bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kAlignment = 256;
  std::size_t bytes_ = 0;
};

class Workspace {
 public:
  explicit Workspace(cuda::Device& device) : device_(device), stream_(device), done_(device) {}

  [[nodiscard]] const cuda::Stream& stream() const { return stream_; }
  [[nodiscard]] const cuda::Event& done() const { return done_; }

  // Buffers of at least so many bytes; contents undefined. @throws cuda::DriverError out_of_memory
  std::byte* upload(std::size_t bytes) { return grown(upload_, bytes).template as<std::byte>(); }
  std::byte* download(std::size_t bytes) { return grown(download_, bytes).template as<std::byte>(); }
  std::byte* on_device(std::size_t bytes) { return grown(device_memory_, bytes).template as<std::byte>(); }

 private:
  cuda::Device& device_;
  cuda::Stream stream_;
  cuda::Event done_;
  cuda::PinnedBuffer upload_, download_;
  cuda::DeviceBuffer device_memory_;

  template <class Buffer>
  Buffer& grown(Buffer& buffer, std::size_t bytes) {
    if (buffer.bytes() < bytes) {
      buffer = Buffer();  // both at a time may be too much
      buffer = Buffer(device_, bytes);
    }
    return buffer;
  }
};

/// The workspaces of a device: so many chunks are on their way at a time, one of them computed while the
/// operands of others are gathered and copied.
class Workspaces {
 public:
  explicit Workspaces(cuda::Device& device) : device_(device) {}

  /// Holds a workspace for as long as it lives.
  class Lease {
   public:
    explicit Lease(Workspaces& from) : from_(from), workspace_(from.take()) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { from_.give_back(std::move(workspace_)); }
    Workspace& operator*() const { return *workspace_; }

   private:
    Workspaces& from_;
    std::unique_ptr<Workspace> workspace_;
  };

 private:
  static constexpr std::ptrdiff_t kAtATime = 4;

  std::unique_ptr<Workspace> take() {
    free_places_.acquire();
    try {
      const std::lock_guard lock(mutex_);
      idle_.reserve(kAtATime);
      if (idle_.empty()) return std::make_unique<Workspace>(device_);
      std::unique_ptr<Workspace> workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    } catch (...) {
      free_places_.release();
      throw;
    }
  }
  void give_back(std::unique_ptr<Workspace> workspace) {
    {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(workspace));
    }
    free_places_.release();
  }

  cuda::Device& device_;
  std::counting_semaphore<kAtATime> free_places_{kAtATime};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace manymod::device
