// SPDX-License-Identifier: Apache-2.0
// Several GPUs as one engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "dispatch/engine.hpp"

namespace manymod {

/// Work that a GPU has been given and not done yet, in nanoseconds by Engine::item_cost_ns.
class GpuLoad {
 public:
  [[nodiscard]] std::uint64_t work() const { return work_.load(std::memory_order_relaxed); }
  /// @return false, and nothing is added, if there is no longer `expected`
  bool add(std::uint64_t expected, std::uint64_t more) {
    return work_.compare_exchange_strong(expected, expected + more, std::memory_order_relaxed);
  }
  void remove(std::uint64_t done) { work_.fetch_sub(done, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> work_{0};
};

/// The load of CUDA device `index`, of all engines of this process that are spread.
GpuLoad& gpu_load(unsigned index);

/// A variant on one GPU.
struct SpreadPart {
  std::unique_ptr<const Engine> engine;
  unsigned size = 1;        ///< multiprocessors
  GpuLoad* load = nullptr;  ///< must outlive the engine
};

/// Gives each `run` to the GPU that would end it first: the one whose load, these items included, is least
/// relative to its size; the earlier of equal ones. So several calls of `run` at a time use all GPUs, and one
/// much smaller than the others gets nothing as long as those have little to do.
///
/// Items on a GPU that fails (StatusError) are computed by another; the call fails where all do. A failed GPU
/// gets nothing more as long as other items are being computed, and one that is of no more use to this
/// process (cuda::Fault::lost) nothing at all, unless there is no other left.
///
/// Moduli and bases are prepared on a GPU when items first go there; `prepare_base` makes the comb of one at
/// once. `parts` are of one variant, not empty, the one that speaks for all of them (accepts,
/// chunk_granularity, item_cost_ns of one GPU) first.
std::unique_ptr<Engine> spread(std::vector<SpreadPart> parts);

}  // namespace manymod
