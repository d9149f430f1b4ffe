// SPDX-License-Identifier: Apache-2.0
// An engine that computes nothing and records its calls.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "exec/engine_set.hpp"

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
  std::function<bool(const Job& job, std::size_t item)> accepts_item;     ///< empty: accepts everything

  bool accepts(const Job& job, std::size_t item) const override {
    return !accepts_item || accepts_item(job, item);
  }

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
  void run(const Job& job, Items items, std::size_t limbs) const override {
    for (const std::size_t item : items) {
      EXPECT_TRUE(!accepts_item || accepts_item(job, item)) << item;
      if (job.stop.requested()) break;
      if (on_item) on_item(item, job.stop);
      job.status[item] = ItemStatus::ok;
    }
    const std::lock_guard lock(mutex_);
    calls_.push_back({{items.begin(), items.end()}, limbs});
  }

  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  [[nodiscard]] std::size_t items_run() const {
    std::size_t sum = 0;
    for (const Call& call : calls_) sum += call.items.size();
    return sum;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<Call> calls_;
};

/// A set of this engine alone, for any number of items.
inline EngineSet only(std::unique_ptr<RecordingEngine> engine) {
  std::vector<EngineChoice> choices;
  choices.push_back({std::move(engine), 1, 1, true});
  return EngineSet(std::move(choices));
}

}  // namespace manymod::testing
