// SPDX-License-Identifier: Apache-2.0
// Chooses which of several GPUs gets the next work: the one that would finish it first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/variant.hpp"

namespace manymod {

/// Work that a GPU has been given and has not finished yet, in nanoseconds by Engine::item_cost_ns.
class GpuLoad {
 public:
  [[nodiscard]] std::uint64_t work() const { return work_.load(std::memory_order_relaxed); }
  /// Add `more` if the load is still `expected`. @return whether it was
  bool add(std::uint64_t expected, std::uint64_t more) {
    return work_.compare_exchange_strong(expected, expected + more, std::memory_order_relaxed);
  }
  void remove(std::uint64_t done) { work_.fetch_sub(done, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> work_{0};
};

/// The load of the backend's GPU `index`: all work of this process that is placed on GPUs by their load.
GpuLoad& gpu_load(Backend backend, unsigned index);

/// A GPU that work may go to.
struct GpuCandidate {
  GpuLoad* load;
  unsigned size;                  ///< multiprocessors
  unsigned preference_class = 0;  ///< chosen only if no candidate has a lower value
};

/// Work that counts towards the load of one GPU for as long as this object lives.
class LoadShare {
 public:
  /// Give `work` (at most kMostWork) to the candidate that would finish it first: the one whose load
  /// including this work, divided by its size, is least; the first of equal ones. There is at least one.
  LoadShare(std::span<const GpuCandidate> candidates, std::uint64_t work);
  LoadShare(const LoadShare&) = delete;
  LoadShare& operator=(const LoadShare&) = delete;
  ~LoadShare() { load_->remove(work_); }

  static constexpr std::uint64_t kMostWork =
      1'000'000'000'000'000;  ///< the sum of thousands of them is below 2^63

  /// Position among the candidates.
  [[nodiscard]] std::size_t chosen() const { return chosen_; }

 private:
  std::uint64_t work_;
  std::size_t chosen_ = 0;
  GpuLoad* load_ = nullptr;
};

}  // namespace manymod
