// SPDX-License-Identifier: Apache-2.0
// An engine that computes nothing and remembers what it was asked to do.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "dispatch/engine.hpp"

namespace manymod::testing {

class RecordingEngine : public Engine {
 public:
  struct Call {
    std::vector<std::size_t> items;
    std::size_t limbs;
  };

  double cost_ns_per_limb = 1;
  std::size_t granularity = 1;
  std::function<void(std::size_t item, const StopToken& token)> on_item;  ///< may throw; called by any thread

  std::unique_ptr<PreparedModulus> prepare(std::span<const Limb>, Operation, TimingClass) const override {
    return std::make_unique<PreparedModulus>();
  }
  std::unique_ptr<PreparedBase> prepare_base(const BatchView&, std::span<const Limb>, std::size_t,
                                             TimingClass, const StopToken&) const override {
    return std::make_unique<PreparedBase>();
  }
  std::size_t chunk_granularity(const Job&, std::size_t) const override { return granularity; }
  double item_cost_ns(const Job&, std::size_t limbs) const override {
    return cost_ns_per_limb * static_cast<double>(limbs);
  }
  void run(const Job& job, std::span<const std::size_t> items, std::size_t limbs) const override {
    for (const std::size_t item : items) {
      if (job.stop.requested()) break;
      if (on_item) on_item(item, job.stop);
      job.status[item] = ItemStatus::ok;
    }
    const std::lock_guard lock(mutex_);
    calls_.push_back({{items.begin(), items.end()}, limbs});
  }

  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<Call> calls_;
};

}  // namespace manymod::testing
