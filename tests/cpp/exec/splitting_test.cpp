// SPDX-License-Identifier: Apache-2.0
// Which engine gets which items of a bucket, with engines that only record.
#include "exec/splitting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

#include "exec/batch.hpp"
#include "exec/chunking.hpp"
#include "recording_engine.hpp"

namespace manymod::testing {
namespace {

bool odd_and_not_negative(const Job& job, std::size_t item) {
  return (job.modulus.magnitude(item)[0] & 1) != 0 && !job.y.is_negative(item);
}

// Engines: 0 wide (8 lanes, from 5 items), 1 narrow (4 lanes, from 2), 2 single (1 lane, accepts everything).
class Splitting : public ::testing::Test {
 protected:
  Splitting() { make_engines(5, 2, 1); }

  void make_engines(std::size_t wide_from, std::size_t narrow_from, std::size_t single_from) {
    std::vector<EngineChoice> choices;
    recorders_.clear();
    const auto add = [&](std::size_t lanes, std::size_t min_items, double cost_ns) {
      auto engine = std::make_unique<RecordingEngine>();
      engine->granularity = lanes;
      engine->cost_ns_per_limb = cost_ns;
      if (lanes > 1) engine->accepts_item = odd_and_not_negative;
      recorders_.push_back(engine.get());
      choices.push_back({std::move(engine), lanes, min_items, lanes == 1});
    };
    add(8, wide_from, 10);
    add(4, narrow_from, 20);
    add(1, single_from, 50);
    engines_ = std::make_unique<EngineSet>(std::move(choices));
  }

  void make_job(std::size_t count, std::size_t width = 1) {
    moduli_.assign(count * width, 15);
    exponents_.assign(count, 3);
    signs_.assign(count, 0);
    results_.assign(count * width, 0);
    statuses_.assign(count, ItemStatus::not_computed);
    job_.op = Operation::powmod;
    job_.x = {moduli_.data(), count, width, width, nullptr};
    job_.y = {exponents_.data(), count, 1, 1, signs_.data()};
    job_.modulus = {moduli_.data(), count, width, width, nullptr};
    job_.result = {results_.data(), count, width, width, nullptr};
    job_.status = statuses_.data();
  }

  // "engine*items" for each part, in the order of the parts.
  std::string split(unsigned threads = 1) {
    batch_ = bucket_each(job_, 4096);
    const SplitBatch parts = split_by_engine(*engines_, job_, batch_.buckets, threads);
    std::string text;
    for (const Bucket& bucket : parts.buckets) {
      if (!text.empty()) text += ' ';
      text += std::to_string(bucket.engine) + "*" + std::to_string(bucket.items.size());
    }
    expect_partition(parts);
    return text;
  }

  // Checks that every item occurs once, with the length of its own exponent.
  void expect_partition(const SplitBatch& parts) const {
    std::vector<std::size_t> seen;
    for (const Bucket& bucket : parts.buckets) {
      ASSERT_FALSE(bucket.items.empty());
      seen.insert(seen.end(), bucket.items.begin(), bucket.items.end());
      if (bucket.exponent_bits.empty()) continue;
      ASSERT_EQ(bucket.exponent_bits.size(), bucket.items.size());
      for (std::size_t i = 0; i < bucket.items.size(); ++i) {
        EXPECT_EQ(bucket.exponent_bits[i],
                  static_cast<unsigned>(std::bit_width(exponents_[bucket.items[i]])));
      }
    }
    std::sort(seen.begin(), seen.end());
    std::vector<std::size_t> all(job_.result.count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(seen, all);
  }

  std::string split_of(std::size_t count, unsigned threads = 1) {
    make_job(count);
    return split(threads);
  }

  std::vector<RecordingEngine*> recorders_;
  std::unique_ptr<EngineSet> engines_;
  std::vector<Limb> moduli_, exponents_, results_;
  std::vector<std::uint8_t> signs_;
  std::vector<ItemStatus> statuses_;
  Job job_;
  BucketedBatch batch_;
};

TEST_F(Splitting, LargestFirst) {
  EXPECT_EQ(split_of(1), "2*1");
  EXPECT_EQ(split_of(2), "1*2");
  EXPECT_EQ(split_of(3), "1*3");
  EXPECT_EQ(split_of(4), "1*4");
  EXPECT_EQ(split_of(5), "0*5");
  EXPECT_EQ(split_of(7), "0*7");
  EXPECT_EQ(split_of(8), "0*8");
  EXPECT_EQ(split_of(9), "0*8 2*1");
  EXPECT_EQ(split_of(10), "0*8 1*2");
  EXPECT_EQ(split_of(11), "0*8 1*3");
  EXPECT_EQ(split_of(12), "0*8 1*4");
  EXPECT_EQ(split_of(13), "0*13");  // a tail for the same engine stays with the full vectors
  EXPECT_EQ(split_of(15), "0*15");
  EXPECT_EQ(split_of(8 * 1000 + 1), "0*8000 2*1");
  EXPECT_EQ(split_of(8 * 1000 + 6), "0*8006");
}

TEST_F(Splitting, NarrowVectorsLeaveTailsToo) {
  make_engines(16, 2, 1);
  EXPECT_EQ(split_of(15), "1*15");
  EXPECT_EQ(split_of(13), "1*12 2*1");
  EXPECT_EQ(split_of(17), "0*16 2*1");
}

TEST_F(Splitting, OneEngineForEveryNumber) {
  make_engines(1, 1, 1);
  EXPECT_EQ(split_of(1), "0*1");
  EXPECT_EQ(split_of(9), "0*9");
}

TEST_F(Splitting, ItemsThatAreNotAccepted) {
  make_job(11);
  moduli_[3] = 16;
  signs_[7] = 1;
  EXPECT_EQ(split(), "0*8 2*1 2*2");
}

TEST_F(Splitting, ProductsWithModuliOfBothParities) {
  make_job(11);
  job_.op = Operation::mulmod;
  moduli_[3] = 16;
  EXPECT_EQ(split(), "0*8 1*2 2*1");
}

TEST_F(Splitting, NothingIsAccepted) {
  make_job(9);
  moduli_.assign(9, 16);
  EXPECT_EQ(split(), "2*9");
  make_job(9);
  moduli_[0] = 18;
  job_.modulus.count = 1;  // one even modulus for all
  job_.y.negative = nullptr;
  batch_ = bucket_shared(job_, ModulusClass::compute, 1);
  const SplitBatch parts = split_by_engine(*engines_, job_, batch_.buckets, 1);
  ASSERT_EQ(parts.buckets.size(), 1u);
  EXPECT_EQ(parts.buckets[0].engine, 2u);
  EXPECT_EQ(parts.buckets[0].items.size(), 9u);
}

TEST_F(Splitting, AnItemThatNoEngineAcceptsIsAnError) {
  make_job(3);
  moduli_[1] = 16;
  std::vector<EngineChoice> choices;
  auto engine = std::make_unique<RecordingEngine>();
  engine->accepts_item = odd_and_not_negative;
  choices.push_back({std::move(engine), 8, 1, false});
  engines_ = std::make_unique<EngineSet>(std::move(choices));
  EXPECT_THROW(split(), std::logic_error);
}

TEST_F(Splitting, NoEngineForSingleItemsIsAnError) {
  std::vector<EngineChoice> choices;
  choices.push_back({std::make_unique<RecordingEngine>(), 8, 2, true});
  choices.push_back({std::make_unique<RecordingEngine>(), 8, kFallbackOnly, true});
  EXPECT_THROW(EngineSet(std::move(choices)), std::logic_error);
}

TEST_F(Splitting, MixedWidths) {
  make_job(20, 2);
  for (std::size_t i = 0; i < 9; ++i) moduli_[2 * i + 1] = 0;
  moduli_[2 * 19] = 14;
  EXPECT_EQ(split(), "0*8 1*2 2*1 0*8 2*1");
}

TEST_F(Splitting, ExponentLengthsStayWithTheirItems) {
  make_job(21);
  for (std::size_t i = 0; i < 21; ++i) exponents_[i] = Limb{1} << (3 * i);
  moduli_[4] = moduli_[17] = 16;
  signs_[20] = 1;
  EXPECT_EQ(split(), "0*16 1*2 2*3");
  moduli_[4] = moduli_[17] = 15;
  signs_[20] = 0;
  EXPECT_EQ(split(), "0*21");
}

TEST_F(Splitting, FixedBasesStayWithOneEngine) {
  make_job(9);
  signs_[2] = 1;
  batch_ = bucket_each(job_, 64);
  const SplitBatch parts = split_by_engine(*engines_, job_, batch_.buckets, 1, 0);
  ASSERT_EQ(parts.buckets.size(), 2u);
  EXPECT_EQ(parts.buckets[0].engine, 0u);
  EXPECT_EQ(parts.buckets[0].items.size(), 8u);
  EXPECT_EQ(parts.buckets[1].engine, 2u);
  EXPECT_EQ(parts.buckets[1].items.size(), 1u);
}

TEST_F(Splitting, FewItemsAreSpreadWhereThatIsClearlyFaster) {
  // A vector of 8 takes 80, one of 4 takes 80, a single item 50.
  make_engines(2, kFallbackOnly, 1);
  EXPECT_EQ(split_of(2, 1), "0*2");
  EXPECT_EQ(split_of(2, 2), "2*2");  // 50 against 80
  EXPECT_EQ(split_of(3, 2), "0*3");  // 100 against 80
  EXPECT_EQ(split_of(4, 4), "2*4");
  EXPECT_EQ(split_of(8, 2), "0*8");
  EXPECT_EQ(split_of(8, 8), "2*8");
  EXPECT_EQ(split_of(16, 2), "0*16");  // a vector for each thread
  recorders_[2]->cost_ns_per_limb = 70;
  EXPECT_EQ(split_of(2, 2), "0*2");  // 70 is not clearly less than 80
}

TEST_F(Splitting, CostsCountWholeVectors) {
  make_job(13);
  batch_ = bucket_each(job_, 64);
  const SplitBatch parts = split_by_engine(*engines_, job_, batch_.buckets, 1);
  ASSERT_EQ(parts.buckets.size(), 1u);
  const WorkPart cost = work_part((*engines_)[parts.buckets[0].engine], job_, parts.buckets[0]);
  EXPECT_DOUBLE_EQ(cost.item_ns, 10);
  EXPECT_DOUBLE_EQ(cost.total_ns, 160);
  EXPECT_EQ(cost.granularity, 8u);
}

TEST_F(Splitting, ThreadsGetFullVectors) {
  for (RecordingEngine* engine : recorders_) engine->cost_ns_per_limb *= 1e6;
  make_job(8 * 40 + 3);
  batch_ = bucket_each(job_, 64);
  EXPECT_TRUE(compute_batch({*engines_}, job_, batch_, 2, {}));
  EXPECT_EQ(recorders_[0]->items_run(), 320u);
  EXPECT_EQ(recorders_[1]->items_run(), 3u);
  EXPECT_EQ(recorders_[2]->items_run(), 0u);
  EXPECT_GT(recorders_[0]->calls().size(), 4u);
  for (const auto& call : recorders_[0]->calls()) EXPECT_EQ(call.items.size() % 8, 0u);
  EXPECT_EQ(std::count(statuses_.begin(), statuses_.end(), ItemStatus::ok), 323);
}

TEST_F(Splitting, TwoVectorsOnTwoThreads) {
  for (RecordingEngine* engine : recorders_) engine->cost_ns_per_limb *= 1e6;
  make_job(16);
  batch_ = bucket_each(job_, 64);
  EXPECT_TRUE(compute_batch({*engines_}, job_, batch_, 2, {}));
  ASSERT_EQ(recorders_[0]->calls().size(), 2u);
  for (const auto& call : recorders_[0]->calls()) EXPECT_EQ(call.items.size(), 8u);
}

TEST_F(Splitting, InlineRunsUseAllEngines) {
  make_job(12);
  moduli_[5] = 16;
  batch_ = bucket_each(job_, 64);
  EXPECT_TRUE(compute_batch({*engines_}, job_, batch_, 1, {}));
  EXPECT_EQ(recorders_[0]->items_run(), 8u);
  EXPECT_EQ(recorders_[1]->items_run(), 3u);
  EXPECT_EQ(recorders_[2]->items_run(), 1u);
  EXPECT_EQ(recorders_[2]->calls()[0].items, std::vector<std::size_t>{5});
  EXPECT_EQ(std::count(statuses_.begin(), statuses_.end(), ItemStatus::ok), 12);
}

TEST_F(Splitting, CancelLeavesTheRestNotComputed) {
  for (RecordingEngine* engine : recorders_) engine->cost_ns_per_limb *= 1e9;
  make_job(100);
  moduli_[99] = 16;
  for (RecordingEngine* engine : recorders_) {
    engine->on_item = [](std::size_t, const StopToken& token) {
      while (!token.requested()) std::this_thread::yield();
    };
  }
  batch_ = bucket_each(job_, 64);
  const mm_progress_fn stop = [](std::size_t, std::size_t, void*) { return 1; };
  EXPECT_FALSE(compute_batch({*engines_}, job_, batch_, 2, {stop, nullptr}));
  EXPECT_LE(std::count(statuses_.begin(), statuses_.end(), ItemStatus::ok), 2);
  EXPECT_GE(std::count(statuses_.begin(), statuses_.end(), ItemStatus::not_computed), 98);
}

class CountingEngine : public RecordingEngine {
 public:
  mutable std::atomic<int> moduli{0}, bases{0};
  bool base_is_stopped = false;

  std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                           TimingClass timing) const override {
    ++moduli;
    return RecordingEngine::prepare(modulus, op, timing);
  }
  std::unique_ptr<PreparedBase> prepare_base(const BatchView& base, std::span<const Limb> modulus,
                                             std::size_t bits, TimingClass timing,
                                             const StopToken& stop) const override {
    ++bases;
    EXPECT_TRUE(base.is_negative(0));
    EXPECT_EQ(base.magnitude(0)[0], 7u);
    if (base_is_stopped) return nullptr;
    return RecordingEngine::prepare_base(base, modulus, bits, timing, stop);
  }
};

class Prepared : public Splitting {
 protected:
  Prepared() {
    std::vector<EngineChoice> choices;
    for (const std::size_t lanes : {8u, 1u}) {
      auto engine = std::make_unique<CountingEngine>();
      if (lanes > 1) engine->accepts_item = odd_and_not_negative;
      counters_.push_back(engine.get());
      choices.push_back({std::move(engine), lanes, lanes == 1 ? 1u : 2u, lanes == 1});
    }
    engines_ = std::make_unique<EngineSet>(std::move(choices));
    make_job(9);
    job_.modulus.count = 1;
  }

  void run(const Workers& workers) {
    batch_ = bucket_shared(job_, ModulusClass::compute, 1);
    EXPECT_TRUE(compute_batch(workers, job_, batch_, 1, {}));
  }

  /// Makes the job one of powers of -7.
  PreparedBases begin_powers() {
    job_.op = Operation::fixed_base_powmod;
    return {*engines_, {&kSeven, 1, 1, 1, &kNegative}, job_.modulus.magnitude(0), 64, job_.timing};
  }

  static constexpr Limb kSeven = 7;
  static constexpr std::uint8_t kNegative = 1;
  std::vector<CountingEngine*> counters_;
};

TEST_F(Prepared, ModuliOnceForEachEngineThatRuns) {
  const PreparedModuli moduli(*engines_, job_.modulus.magnitude(0), job_.op, job_.timing);
  const Workers workers{*engines_, &moduli};
  job_.result.count = 8;
  run(workers);
  run(workers);
  EXPECT_EQ(counters_[0]->moduli, 1);
  EXPECT_EQ(counters_[1]->moduli, 0);
  job_.result.count = 9;
  run(workers);
  run(workers);
  EXPECT_EQ(counters_[0]->moduli, 1);
  EXPECT_EQ(counters_[1]->moduli, 1);
}

TEST_F(Prepared, BasesForTheMainEngineAndForTheOtherWhenNeeded) {
  const PreparedBases bases = begin_powers();
  EXPECT_EQ(bases.main_choice(), 0u);
  const Workers workers{*engines_, nullptr, &bases};
  run(workers);
  EXPECT_EQ(counters_[0]->bases, 1);
  EXPECT_EQ(counters_[1]->bases, 0);
  signs_[3] = 1;
  run(workers);
  run(workers);
  EXPECT_EQ(counters_[0]->bases, 1);
  EXPECT_EQ(counters_[1]->bases, 1);
  EXPECT_EQ(counters_[1]->items_run(), 2u);
  EXPECT_EQ(counters_[0]->items_run(), 25u);
}

TEST_F(Prepared, FewExponentsUseACombOfTheEngineForTheirNumber) {
  const PreparedBases bases = begin_powers();
  EXPECT_EQ(bases.choice_for(1), 1u);
  EXPECT_EQ(bases.choice_for(2), 0u);
  const Workers workers{*engines_, nullptr, &bases};
  run(workers);
  EXPECT_EQ(counters_[1]->bases, 0);  // the tail stays with the engine of the full vectors
  make_job(1);
  job_.op = Operation::fixed_base_powmod;
  run(workers);
  run(workers);
  EXPECT_EQ(counters_[0]->bases, 1);
  EXPECT_EQ(counters_[1]->bases, 1);
  EXPECT_EQ(counters_[0]->items_run(), 9u);
  EXPECT_EQ(counters_[1]->items_run(), 2u);
}

TEST_F(Prepared, AStoppedCombComputesNothing) {
  const PreparedBases bases = begin_powers();
  signs_[3] = 1;
  counters_[1]->base_is_stopped = true;
  batch_ = bucket_shared(job_, ModulusClass::compute, 1);
  EXPECT_FALSE(compute_batch({*engines_, nullptr, &bases}, job_, batch_, 1, {}));
  EXPECT_EQ(std::count(statuses_.begin(), statuses_.end(), ItemStatus::not_computed), 9);
  counters_[1]->base_is_stopped = false;
  run({*engines_, nullptr, &bases});
  EXPECT_EQ(std::count(statuses_.begin(), statuses_.end(), ItemStatus::ok), 9);
}

TEST_F(Prepared, AnEvenModulusHasTheGeneralEngineAsMainChoice) {
  const Limb seven = 7;
  const Limb ten = 10;
  const PreparedBases bases(*engines_, {&seven, 1, 1, 1, nullptr}, {&ten, 1}, 64, TimingClass::public_);
  EXPECT_EQ(bases.main_choice(), 1u);
  EXPECT_EQ(bases.choice_for(100), 1u);
}

// Items that vectors do not accept go to the engine chosen for their number, if it accepts them.
TEST(Acceptance, DependsOnTheNumberOfItemsIfPossible) {
  std::vector<EngineChoice> choices;
  for (const std::size_t least : {100u, 4u, 1u}) {
    auto engine = std::make_unique<RecordingEngine>();
    if (least == 4) engine->accepts_item = [](const Job&, std::size_t) { return false; };
    choices.push_back({std::move(engine), 1, least, least != 4});
  }
  const EngineSet engines(std::move(choices));
  const Job job;
  EXPECT_EQ(engines.accepting(job, 0, 100), 0u);
  EXPECT_EQ(engines.accepting(job, 0, 99), 2u);
  EXPECT_EQ(engines.accepting(job, 0, 1), 2u);
}

}  // namespace
}  // namespace manymod::testing
