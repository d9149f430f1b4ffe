// SPDX-License-Identifier: Apache-2.0
// The fixture of tests that place items on several GPUs, whose engines only record. Calls of `run` that begin
// within others put several chunks in flight at once.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "exec/batch.hpp"
#include "exec/placement.hpp"
#include "gpu/cuda/error.hpp"
#include "recording_engine.hpp"

namespace manymod::testing {

inline constexpr std::array<Limb, 1> kModulus{35};
inline constexpr std::array<Limb, 1> kBase{3};

struct OwnModulus final : PreparedModulus {
  explicit OwnModulus(const void* whose) : owner(whose) {}
  const void* owner;
};
struct OwnBase final : PreparedBase {
  explicit OwnBase(const void* whose) : owner(whose) {}
  const void* owner;
};

class GpuRecorder final : public RecordingEngine {
 public:
  std::function<void()> on_run;  ///< called within run(); may throw
  std::optional<cuda::Fault> fault;
  std::optional<cuda::Fault> comb_fault;
  mutable std::atomic<int> moduli{0}, bases{0}, runs{0};

  std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation,
                                           TimingClass) const override {
    EXPECT_EQ(modulus[0], kModulus[0]);
    ++moduli;
    return std::make_unique<OwnModulus>(this);
  }
  std::unique_ptr<PreparedBase> prepare_base(const BatchView& base, std::span<const Limb> modulus,
                                             std::size_t exponent_bits, TimingClass,
                                             const StopToken& stop) const override {
    if (comb_fault) throw cuda::DriverError(*comb_fault, 0, "no comb");
    if (stop.requested()) return nullptr;
    EXPECT_EQ(base.magnitude(0)[0], kBase[0]);
    EXPECT_TRUE(base.is_negative(0));
    EXPECT_EQ(modulus[0], kModulus[0]);
    EXPECT_EQ(exponent_bits, 77u);
    ++bases;
    return std::make_unique<OwnBase>(this);
  }
  void run(const Job& job, Items items, std::size_t limbs) const override {
    ++runs;
    if (fault) throw cuda::DriverError(*fault, 0, "fails");
    if (job.shared != nullptr) {
      EXPECT_EQ(static_cast<const OwnModulus*>(job.shared)->owner, this);
    }
    if (job.fixed_base != nullptr) {
      EXPECT_EQ(static_cast<const OwnBase*>(job.fixed_base)->owner, this);
    }
    if (on_run) on_run();
    RecordingEngine::run(job, items, limbs);
  }
};

class Placing : public ::testing::Test {
 protected:
  static constexpr std::size_t kMostGpus = 4;

  // A placement on GPUs with these numbers of multiprocessors.
  Placement placement_of(std::initializer_list<unsigned> sizes,
                         std::unique_ptr<const Engine> fallback = nullptr) {
    gpus_.clear();
    std::vector<GpuEngine> engines;
    for (const unsigned size : sizes) {
      auto gpu = std::make_unique<GpuRecorder>();
      const std::size_t index = gpus_.size();
      gpu->cost_ns_per_limb = 1000;
      gpu->on_run = [this, index] {
        order_.push_back(index);
        if (order_.size() < under_way_) run();
      };
      gpus_.push_back(gpu.get());
      engines.push_back({std::move(gpu), static_cast<unsigned>(index), size, &loads_.at(index)});
    }
    return Placement(std::move(engines), std::move(fallback));
  }

  static std::unique_ptr<const EngineSet> set_of(Placement placement) {
    std::vector<EngineChoice> choices;
    choices.push_back({std::move(placement), 1, 1, true});
    return std::make_unique<const EngineSet>(std::move(choices));
  }

  void use(std::initializer_list<unsigned> sizes, std::unique_ptr<const Engine> fallback = nullptr) {
    engines_ = set_of(placement_of(sizes, std::move(fallback)));
  }

  [[nodiscard]] const Placement& placement() const { return (*engines_)[0].placement; }

  void run(const PreparedModuli* moduli = nullptr, const PreparedBases* bases = nullptr) {
    statuses_.fill(ItemStatus::not_computed);
    Job job;
    job.status = statuses_.data();
    run_items({*engines_, moduli, bases}, 0, job, StopToken(&stop_), kItems, 1);
  }

  // The GPUs of `chunks` chunks that are all in flight before the first one ends.
  std::vector<std::size_t> gpus_of(std::size_t chunks) {
    order_.clear();
    under_way_ = chunks;
    run();
    under_way_ = 0;
    return order_;
  }

  [[nodiscard]] PreparedBases bases() const {
    const std::uint8_t negative = 1;
    return {*engines_, {kBase.data(), 1, 1, 1, &negative}, kModulus, 77, TimingClass::public_};
  }
  // @return false if stopped
  bool prepare(const PreparedBases& bases) const { return bases.prepare(0, StopToken(&stop_)); }

  [[nodiscard]] bool all_computed() const {
    return std::count(statuses_.begin(), statuses_.end(), ItemStatus::ok) == std::ssize(statuses_);
  }

  void expect_idle() const {
    for (const GpuLoad& load : loads_) EXPECT_EQ(load.work(), 0u);
  }

  using Gpus = std::vector<std::size_t>;
  static constexpr std::array<std::size_t, 3> kItems{0, 1, 2};
  std::array<GpuLoad, kMostGpus> loads_;
  std::vector<GpuRecorder*> gpus_;
  std::unique_ptr<const EngineSet> engines_;
  std::array<ItemStatus, 3> statuses_{};
  std::atomic<bool> stop_{false};
  Gpus order_;
  std::size_t under_way_ = 0;
};

}  // namespace manymod::testing
