// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/worker.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "gpu/device_error.hpp"

namespace manymod::ecc::device {
namespace {

/// Chunks that one thread has in flight: while one is computed, the operands of the next and the results of
/// the previous one are copied.
constexpr std::size_t kChunksInFlight = 3;

}  // namespace

std::size_t Worker::granularity() const { return device_.properties().multiprocessors * kChunkItems / 2; }

/// The tables take long to compute, and many processes never use them: the first call that needs them
/// computes them.
const DeviceCurve& Worker::on_device() const {
  std::call_once(made_, [this] {
    on_device_ = std::make_unique<const DeviceCurve>(device_, curve_, kernels_, wide_window_,
                                                     static_cast<unsigned>(kChunksOnGpu));
  });
  return *on_device_;
}

/// The chunks of one call on one thread.
class Worker::Run {
 public:
  Run(const Worker& worker, std::size_t& done, const ChunkedWork& work)
      : worker_(worker), done_(done), work_(work) {}

  void begin(std::size_t first, std::size_t end) {
    if (chunks_.size() == kChunksInFlight) finish_first();
    InFlight one{worker_.pool_.take(), end, nullptr};
    one.chunk->begin(first, static_cast<std::uint32_t>(end - first), work_.bytes);
    work_.start(*one.chunk, [&]() -> const DeviceCurve& {
      const DeviceCurve& curve = worker_.on_device();
      one.chunk->end_operands();
      one.slot = take_slot();
      return curve;
    });
    one.chunk->queue_results();
    chunks_.push_back(std::move(one));
  }
  void finish_all() {
    while (!chunks_.empty()) finish_first();
  }

 private:
  /// A chunk in work, and the end of its items.
  struct InFlight {
    std::unique_ptr<Chunk> chunk;
    std::size_t end = 0;
    Slot slot;
  };

  const Worker& worker_;
  std::size_t& done_;
  const ChunkedWork& work_;
  /// An exception abandons the chunks in flight: their memory is zeroed and freed once the stream no longer
  /// uses it.
  std::deque<InFlight> chunks_;

  /// Only a thread that holds no slot may block for one; threads that held slots while waiting could
  /// deadlock.
  [[nodiscard]] Slot take_slot() {
    Slots& slots = worker_.slots_;
    while (!slots.try_acquire()) {
      if (chunks_.empty()) {
        slots.acquire();
        break;
      }
      finish_first();
    }
    return Slot(&slots);
  }
  void finish_first() {
    InFlight one = std::move(chunks_.front());
    chunks_.pop_front();
    one.chunk->wait(work_.secrecy);
    one.slot.reset();
    one.chunk->store_results(work_.secrecy);
    done_ = one.end;
    worker_.pool_.give(std::move(one.chunk));
  }
};

void Worker::run(std::size_t& done, std::size_t end, const ChunkedWork& work, const StopToken& stop) const {
  // Throws in a forked child before any mutex is locked, which a thread of the parent may hold forever.
  check_usable();
  for (;;) {
    try {
      return run_once(done, end, work, stop);
    } catch (const gpu::DeviceError& error) {
      if (error.fault() != gpu::Fault::out_of_memory || !device_.idle_memories().free_all()) throw;
    }
  }
}

void Worker::run_once(std::size_t& done, std::size_t end, const ChunkedWork& work,
                      const StopToken& stop) const {
  Run chunks(*this, done, work);
  const std::size_t most = chunk_items(work.chunk_items);
  for (std::size_t next = done; next < end && !stop.was_requested();) {
    const std::size_t upto = std::min(end, next + most);
    chunks.begin(next, upto);
    next = upto;
  }
  chunks.finish_all();
}

}  // namespace manymod::ecc::device
