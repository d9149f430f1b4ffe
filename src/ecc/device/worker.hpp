// SPDX-License-Identifier: Apache-2.0
// One GPU of an engine: its tables of the curve, and the chunks that are in work on it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>

#include "core/ticker.hpp"
#include "ecc/device/chunk.hpp"
#include "ecc/device/device_curve.hpp"
#include "gpu/device.hpp"

namespace manymod::ecc::device {

/// Waits until fewer than kChunksOnGpu chunks are being computed on the GPU, and returns the curve's tables
/// there. To be called once for each chunk, after the copies of its operands were enqueued, so that these
/// are copied while other chunks are computed.
using Turn = std::function<const DeviceCurve&()>;

/// Items of a chunk for each multiprocessor, unless ChunkedWork has another number. Worker::granularity()
/// has half as many. Measured on an H100.
inline constexpr std::size_t kChunkItems = 512;

/// Work on the items of a call that is done in chunks.
struct ChunkedWork {
  ItemBytes bytes;
  Secrecy secrecy = Secrecy::none;
  /// Enqueues the copies of operands of a chunk, then calls turn() and enqueues kernels.
  std::function<void(Chunk& chunk, const Turn& turn)> start;
  /// The most items of a chunk for each multiprocessor.
  std::size_t chunk_items = kChunkItems;
};

/// Several threads may use one object at a time.
class Worker {
 public:
  /// wide_window: see DeviceCurve.
  Worker(gpu::Device& device, const Curve& curve, const CurveKernels& kernels, unsigned wide_window)
      : device_(device), curve_(curve), kernels_(kernels), wide_window_(wide_window), pool_(device) {}

  /// @throws gpu::DeviceError if this process cannot use the GPU: forked, lost
  void check_usable() const { device_.check_usable(); }
  [[nodiscard]] gpu::Device& device() const { return device_; }
  /// Items of the shortest chunk that is worth its launches.
  [[nodiscard]] std::size_t granularity() const;
  /// Items of a chunk that has `per_multiprocessor` items for each multiprocessor.
  [[nodiscard]] std::size_t chunk_items(std::size_t per_multiprocessor) const {
    return device_.properties().multiprocessors * per_multiprocessor;
  }

  /// Computes items `done` to `end` - 1, fewer where `stop` is requested. Moves `done` behind those that were
  /// computed, also where it throws. Where memory is short, what is idle on the device is freed first.
  /// @throws gpu::DeviceError
  void run(std::size_t& done, std::size_t end, const ChunkedWork& work, const StopToken& stop) const;

 private:
  class Run;

  /// Chunks of all threads on the GPU. If there were more, all would be computed side by side and be ready at
  /// the same time, so that their results would be copied while the GPU is idle.
  static constexpr std::ptrdiff_t kChunksOnGpu = 8;

  using Slots = std::counting_semaphore<kChunksOnGpu>;
  /// Returns a slot to the semaphore.
  struct GiveBack {
    void operator()(Slots* slots) const { slots->release(); }
  };
  using Slot = std::unique_ptr<Slots, GiveBack>;

  gpu::Device& device_;
  const Curve& curve_;
  const CurveKernels& kernels_;
  const unsigned wide_window_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const DeviceCurve> on_device_;
  mutable ChunkPool pool_;
  mutable Slots slots_{kChunksOnGpu};

  [[nodiscard]] const DeviceCurve& on_device() const;
  /// As run(), where memory suffices.
  void run_once(std::size_t& done, std::size_t end, const ChunkedWork& work, const StopToken& stop) const;
};

}  // namespace manymod::ecc::device
