// SPDX-License-Identifier: Apache-2.0
// The resources of one chunk of a batch on a device: a stream, and buffers that grow as needed and are
// reused.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/device.hpp"
#include "gpu/device_error.hpp"
#include "gpu/idle_memory.hpp"
#include "repr/wipe.hpp"

namespace manymod::gpu {

/// Offsets of arrays in one buffer, each aligned to 256 bytes.
class BufferLayout {
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
  explicit Workspace(Device& device) : Workspace(device, device.make_stream()) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  /// Waits for work that is still in flight, after an exception: it may use memory of others as well, who go
  /// on.
  ~Workspace() { stream_->drain(); }

  [[nodiscard]] const Stream& stream() const { return *stream_; }
  [[nodiscard]] const Event& done() const { return *done_; }

  // Buffers of at least that many bytes; their contents are undefined. @throws DeviceError out_of_memory
  std::byte* upload(std::size_t bytes) {
    uploaded_ = bytes;
    return grown(upload_, bytes);
  }
  std::byte* download(std::size_t bytes) { return grown(download_, bytes); }
  std::byte* on_device(std::size_t bytes) { return grown(device_memory_, bytes); }
  /// Zeroes what the last upload() gave. On input: the device has read it.
  void wipe_upload() { wipe_bytes(upload_.data(), uploaded_); }

  /// Number `number` of further workspaces in the same stream, which are kept with this one: for programs
  /// that are enqueued one after the other, each of which reads its upload later.
  Workspace& beside(std::size_t number) {
    while (beside_.size() <= number) {
      beside_.push_back(std::unique_ptr<Workspace>(new Workspace(device_, stream_)));
    }
    return *beside_[number];
  }

 private:
  Device& device_;
  std::shared_ptr<const Stream> stream_;
  std::unique_ptr<const Event> done_;
  PinnedBuffer upload_, download_;
  DeviceBuffer device_memory_;
  std::size_t uploaded_ = 0;
  std::vector<std::unique_ptr<Workspace>> beside_;

  Workspace(Device& device, std::shared_ptr<const Stream> stream)
      : device_(device), stream_(std::move(stream)), done_(device.make_event()) {}

  /// Where memory is short, what is idle on the device is freed first. The work before this step may have
  /// left idle memory: if the failure ended the whole call, its repetition would leave the same and fail here
  /// again.
  template <MemoryKind kKind>
  std::byte* grown(Buffer<kKind>& buffer, std::size_t bytes) {
    try {
      buffer.require(device_, bytes);
    } catch (const DeviceError& error) {
      if (error.fault() != Fault::out_of_memory || !device_.idle_memories().free_all()) throw;
      buffer.require(device_, bytes);
    }
    return buffer.template as<std::byte>();
  }
};

/// The workspaces of a device. Several chunks are in flight at the same time, so that the operands of some
/// are gathered and copied while another is computed.
class Workspaces {
 public:
  /// More than one call uses: batches of requests share a GPU, unless a service is told otherwise four at a
  /// time of RSA, with two halves each, and six on curves.
  static constexpr std::size_t kInFlight = 8;
  /// After memory was short, one place more is tried each time that so many uses have not been short of it.
  /// More than are ever in flight: workspaces that all fail at the same time then take turns, and do not fail
  /// forever.
  static constexpr std::size_t kUsesPerPlace = 32;

  /// `in_flight`: how many may be in use at a time.
  explicit Workspaces(Device& device, std::size_t in_flight = kInFlight)
      : device_(device),
        most_(in_flight),
        places_(in_flight),
        idle_(std::make_shared<IdleObjects<Workspace>>(in_flight)) {
    device.idle_memories().add(idle_);
  }

  /// Holds a workspace for as long as it lives. If it ends by an exception the workspace is discarded: work
  /// on it may still be in flight, and its contents may be secret.
  class Lease {
   public:
    /// Waits until a workspace is available. @throws DeviceError
    explicit Lease(Workspaces& from);
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    Workspace& operator*() const { return *workspace_; }

    /// After out_of_memory: frees this workspace, and the memory that is idle on the device, whoever keeps
    /// it.
    /// @return whether a second attempt may find more memory: some was idle, other leases have ended since
    /// this one began, or there are others, whose number is limited further for kUsesPerPlace uses
    bool make_room();

   private:
    Workspaces& from_;
    const int exceptions_;
    std::uint32_t freed_before_ = 0;  ///< freed_ when it began
    std::unique_ptr<Workspace> workspace_;
  };

  /// Calls `use` with a workspace, again each time that it ran out of memory while more may have become
  /// available.
  template <class Use>
  void lend(Use&& use) {
    for (;;) {
      Lease lease(*this);
      try {
        use(*lease);
        return;
      } catch (const DeviceError& error) {
        if (error.fault() != Fault::out_of_memory || !lease.make_room()) throw;
      }
    }
  }

 private:
  void take_place();
  void free_place();

  Device& device_;
  std::mutex mutex_;
  /// Counts freed places, under the mutex; is waited for without it. Not a condition variable: its destructor
  /// would wait in a forked child for threads of the parent.
  std::atomic<std::uint32_t> freed_{0};
  const std::size_t most_;
  std::size_t places_;      ///< workspaces that may be in use together, >= 1 and <= most_
  std::size_t in_use_ = 0;  ///< <= places_, or <= an earlier value of places_
  std::size_t uses_ = 0;    ///< that ended since places_ changed
  const std::shared_ptr<IdleObjects<Workspace>> idle_;
};

}  // namespace manymod::gpu
