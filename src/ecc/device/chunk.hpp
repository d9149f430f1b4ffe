// SPDX-License-Identifier: Apache-2.0
// A chunk: some consecutive items of a call that one GPU computes, with the memory and the stream for them
// and the copies to and from the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "abi/items.hpp"
#include "ecc/device/jobs.hpp"
#include "ecc/device/row_jobs.hpp"
#include "ecc/point_engine.hpp"
#include "gpu/buffer.hpp"
#include "gpu/device.hpp"
#include "gpu/idle_memory.hpp"

namespace manymod::ecc::device {

/// The bytes of memory that a chunk needs for its operands, results and intermediate values.
struct ItemBytes {
  std::size_t device = 0;
  std::size_t pinned = 0;
  std::size_t chunk_device = 0, chunk_pinned = 0;  ///< for a chunk in addition, whatever its length
};

/// Which numbers of a chunk are secret, and zeroed as soon as they are not needed any more.
enum class Secrecy : std::uint8_t {
  none,
  operands,  ///< and what is computed from them, except the results
  all,
};

/// Memory and a stream for one chunk at a time; used again for later chunks. For use by one thread at a
/// time. begin() starts a new chunk: the arrays that the following calls return lie one after the other from
/// the beginning of the memory.
class Chunk {
 public:
  explicit Chunk(gpu::Device& device)
      : device_(device), stream_(device.make_stream()), copied_(device.make_event()) {}

  [[nodiscard]] const gpu::Stream& stream() const { return *stream_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// The number of its first item in the call.
  [[nodiscard]] std::size_t first() const { return first_; }

  /// Starts a chunk of `count` items of the call, from item `first` on, with memory as `bytes` says. @throws
  /// gpu::DeviceError
  void begin(std::size_t first, std::uint32_t count, const ItemBytes& bytes);

  /// Enqueues the copy of numbers of `limbs` limbs.
  Rows upload(const NumberRows& rows, std::size_t limbs);
  /// Enqueues the copy of byte strings, which then follow each other.
  Strings upload(const ByteRows& rows);
  /// Enqueues the copy of all strings of the table that rows.indices refer to.
  Strings upload_table(ByteRows rows);
  /// Device memory of `bytes` bytes an item, uninitialised.
  template <class T>
  T* room(std::size_t bytes) {
    return static_cast<T*>(take(bytes * count_));
  }
  /// The same for rows of `limbs` limbs, or bytes, which store_results() copies to the call's arrays; null:
  /// nowhere.
  RowsOut result(Limb* to, std::size_t limbs);
  std::uint8_t* result(std::uint8_t* to);
  /// Enqueues the copy of bytes, which may become a result as well.
  std::uint8_t* upload(const std::uint8_t* bytes);
  void also_result(const std::uint8_t* uploaded, std::uint8_t* to) { add_result(uploaded, to, 1, 1); }
  /// The same for byte strings of `size` bytes, that of item i to `to` + i `stride`.
  std::uint8_t* result(std::uint8_t* to, std::size_t stride, std::size_t size);

  /// Words of device memory, uninitialised.
  std::uint32_t* words(std::size_t count) {
    return static_cast<std::uint32_t*>(take(count * sizeof(std::uint32_t)));
  }
  /// Device memory for a result of the chunk as a whole, of `bytes` bytes.
  void* whole_result(void* to, std::size_t bytes);

  /// After the uploads, before the first result.
  void end_operands();
  /// Enqueues the copies of results.
  void queue_results();
  /// Waits for the work and the copies.
  void wait(Secrecy secrecy);
  /// Copies results to the call's arrays. After wait().
  void store_results(Secrecy secrecy);

 private:
  struct Result {
    const void* device;
    void* pinned;
    void* to;
    std::size_t size, stride;  ///< of an item
    std::size_t count;         ///< items
  };

  gpu::Device& device_;
  std::unique_ptr<gpu::Stream> stream_;
  gpu::DeviceBuffer memory_;
  gpu::PinnedBuffer pinned_;
  std::size_t used_ = 0, pinned_used_ = 0;
  std::size_t operands_end_ = 0;  ///< in pinned memory
  std::unique_ptr<gpu::Event> copied_;
  std::size_t first_ = 0;
  std::uint32_t count_ = 0;
  std::vector<Result> results_;

  Strings upload(const ByteRows& rows, std::size_t first, std::size_t count);
  void* take(std::size_t bytes);
  void* take_pinned(std::size_t bytes);
  void add_result(const void* device, void* to, std::size_t stride, std::size_t size);
};

/// Chunks that are not in use.
class ChunkPool {
 public:
  explicit ChunkPool(gpu::Device& device)
      : device_(device), idle_(std::make_shared<gpu::IdleObjects<Chunk>>()) {
    device.idle_memories().add(idle_);
  }

  std::unique_ptr<Chunk> take() { return idle_->take_or_make(device_); }
  void give(std::unique_ptr<Chunk> chunk) { idle_->give(std::move(chunk)); }

 private:
  gpu::Device& device_;
  const std::shared_ptr<gpu::IdleObjects<Chunk>> idle_;
};

}  // namespace manymod::ecc::device
