// SPDX-License-Identifier: Apache-2.0
// Calls on several GPUs by the library's own variants, with a count of what each GPU computed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dispatch/selection.hpp"
#include "exec/batch.hpp"
#include "exec/bucketing.hpp"
#include "gpu/cuda/error.hpp"

namespace manymod::testing {

/// Integers of `width` limbs.
struct Numbers {
  Numbers(std::size_t count_in, std::size_t width_in)
      : count(count_in), width(width_in), limbs(count_in * width_in) {}

  [[nodiscard]] std::span<const Limb> operator[](std::size_t i) const {
    return std::span(limbs).subspan(i * width, width);
  }
  [[nodiscard]] BatchView view() const { return {limbs.data(), count, width, width, nullptr}; }
  bool operator==(const Numbers&) const = default;

  std::size_t count, width;
  std::vector<Limb> limbs;
};

/// Counts and switches, indexed by GPU.
struct GpuCounts {
  std::array<std::atomic<std::size_t>, 16> items{};
  std::array<std::atomic<std::size_t>, 16> combs{};
  std::array<std::atomic<bool>, 16> lost{};  ///< may be set at any time
  std::array<std::atomic<bool>, 16> begun{};
  /// The first run of each GPU waits until this number of GPUs have begun one.
  std::size_t wait_for = 1;

  void begin(unsigned index) {
    if (begun.at(index).exchange(true)) return;
    while (std::count(begun.begin(), begun.end(), true) < static_cast<std::ptrdiff_t>(wait_for)) {
      std::this_thread::yield();
    }
  }

  void forget() {
    for (auto& count : items) count = 0;
    for (auto& flag : begun) flag = false;
  }
  [[nodiscard]] std::size_t used() const {
    return static_cast<std::size_t>(
        std::count_if(items.begin(), items.end(), [](const auto& count) { return count > 0; }));
  }
};

class CountedEngine final : public Engine {
 public:
  CountedEngine(std::unique_ptr<Engine> engine, unsigned index, GpuCounts& counts)
      : engine_(std::move(engine)), index_(index), counts_(counts) {}

  [[nodiscard]] bool accepts(const Job& job, std::size_t item) const override {
    return engine_->accepts(job, item);
  }
  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                         TimingClass timing) const override {
    return engine_->prepare(modulus, op, timing);
  }
  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                           std::span<const Limb> modulus,
                                                           std::size_t exponent_bits, TimingClass timing,
                                                           const StopToken& stop) const override {
    check_usable();
    ++counts_.combs.at(index_);
    return engine_->prepare_base(base, modulus, exponent_bits, timing, stop);
  }
  [[nodiscard]] std::size_t chunk_granularity(const Job& job, std::size_t limbs) const override {
    return engine_->chunk_granularity(job, limbs);
  }
  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t limbs) const override {
    return engine_->item_cost_ns(job, limbs);
  }
  void run(const Job& job, Items items, std::size_t limbs) const override {
    check_usable();
    counts_.begin(index_);
    engine_->run(job, items, limbs);
    counts_.items.at(index_) += items.size();
  }

 private:
  void check_usable() const {
    if (counts_.lost.at(index_)) throw cuda::DriverError(cuda::Fault::lost, static_cast<int>(index_), "lost");
  }

  std::unique_ptr<Engine> engine_;
  unsigned index_;
  GpuCounts& counts_;
};

/// The variants of this build, those of CUDA devices counted.
inline std::vector<Variant> counted_variants(GpuCounts& counts) {
  std::vector<Variant> variants(registry().begin(), registry().end());
  for (Variant& variant : variants) {
    if (variant.backend != Backend::cuda) continue;
    variant.make_engine = [make = variant.make_engine, &counts](unsigned index) {
      return std::make_unique<CountedEngine>(make(index), index, counts);
    };
  }
  return variants;
}

/// Calls on GPUs, or on the CPU for comparison, executed in the same way as those of a plan.
class CountedCalls {
 public:
  explicit CountedCalls(std::span<const Device> devices)
      : devices_(devices), variants_(counted_variants(counts)) {}

  /// `variant` on all GPUs that a plan for `device` would use.
  [[nodiscard]] EngineSet engines(Operation op, TimingClass timing, std::size_t limbs,
                                  std::string_view device, std::string_view variant) const {
    VariantRequest request{.op = op, .timing = timing, .modulus_bits = limbs * kLimbBits, .forced = {}};
    request.device = device;
    request.forced = variant;
    return make_engines(select_variants(request, {variants_, devices_, {}}));
  }

  /// x^y or x y for moduli of their own.
  static Numbers run(const EngineSet& engines, Operation op, TimingClass timing, const Numbers& x,
                     const Numbers& y, const Numbers& n, unsigned threads = 0) {
    Call call(op, timing, x, y, n);
    EXPECT_TRUE(compute_batch({engines}, call.job, bucket_each(call.job, n.width * kLimbBits), threads, {}));
    return call.result();
  }

  /// Powers of the base of `bases`, by `engines`.
  static Numbers run(const EngineSet& engines, const PreparedBases& bases, TimingClass timing,
                     const Numbers& y, const Numbers& n, unsigned threads = 0) {
    Call call(Operation::fixed_base_powmod, timing, n, y, n);
    const BucketedBatch batch = bucket_shared(call.job, ModulusClass::compute, n.width);
    EXPECT_TRUE(compute_batch({engines, nullptr, &bases}, call.job, batch, threads, {}));
    return call.result();
  }

  GpuCounts counts;

 private:
  struct Call {
    Call(Operation op, TimingClass timing, const Numbers& x, const Numbers& y, const Numbers& n)
        : computed(y.count, n.width), statuses(y.count, ItemStatus::not_computed) {
      job.op = op;
      job.timing = timing;
      job.x = x.view();
      job.y = y.view();
      job.modulus = n.view();
      job.result = {computed.limbs.data(), computed.count, computed.width, computed.width, nullptr};
      job.status = statuses.data();
    }
    Numbers result() {
      EXPECT_EQ(std::count(statuses.begin(), statuses.end(), ItemStatus::ok), std::ssize(statuses));
      return std::move(computed);
    }

    Numbers computed;
    std::vector<ItemStatus> statuses;
    Job job;
  };

  std::span<const Device> devices_;
  std::vector<Variant> variants_;
};

inline void expect_equal(const Numbers& computed, const Numbers& expected, const std::string& what) {
  ASSERT_EQ(computed.count, expected.count);
  for (std::size_t i = 0; i < computed.count; ++i) {
    ASSERT_TRUE(std::ranges::equal(computed[i], expected[i])) << what << ", item " << i;
  }
}

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : random_(seed) {}

  Numbers any(std::size_t count, std::size_t width) {
    Numbers numbers(count, width);
    for (Limb& limb : numbers.limbs) limb = random_();
    return numbers;
  }
  Numbers odd_moduli(std::size_t count, std::size_t width) {
    Numbers numbers = any(count, width);
    for (std::size_t i = 0; i < numbers.limbs.size(); i += width) {
      numbers.limbs[i] |= 3;
      numbers.limbs[i + width - 1] |= 1;
    }
    return numbers;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace manymod::testing
