// SPDX-License-Identifier: Apache-2.0
// What one chunk of a batch needs on a device: a stream and buffers that grow as needed and are used again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/cuda/memory.hpp"
#include "gpu/cuda/stream.hpp"

namespace manymod::gpu {

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
  explicit Workspaces(cuda::Device& device) : device_(device) { idle_.reserve(kAtATime); }

  /// Holds a workspace for as long as it lives. One that an exception ends is not used again: work on it may
  /// still be under way, and what it holds may be secret.
  class Lease {
   public:
    /// Waits until there is one. @throws cuda::DriverError
    explicit Lease(Workspaces& from);
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    Workspace& operator*() const { return *workspace_; }

    /// After out of memory: give this workspace's memory and that of idle ones back.
    /// @return whether there may be more now: some were idle, or others are at work, of which there will be
    /// fewer at a time from now on
    bool make_room();

   private:
    Workspaces& from_;
    const int exceptions_;
    std::unique_ptr<Workspace> workspace_;
  };

  /// Call `use` with a workspace; once more for each time that it ran out of memory and there may be more.
  template <class Use>
  void lend(Use&& use) {
    for (;;) {
      Lease lease(*this);
      try {
        use(*lease);
        return;
      } catch (const cuda::DriverError& error) {
        if (error.fault() != cuda::Fault::out_of_memory || !lease.make_room()) throw;
      }
    }
  }

 private:
  static constexpr std::size_t kAtATime = 4;

  void take_place();
  void free_place();
  std::unique_ptr<Workspace> take();
  void give_back(std::unique_ptr<Workspace> workspace);

  cuda::Device& device_;
  std::mutex mutex_;
  /// Counts freed places. No condition variable: its destructor would wait in a forked child for the
  /// parent's threads.
  std::atomic<std::uint32_t> freed_{0};
  std::size_t places_ = kAtATime;  ///< workspaces at a time, >= 1
  std::size_t in_use_ = 0;         ///< <= places_, or what places_ was before
  std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace manymod::gpu
