// SPDX-License-Identifier: Apache-2.0
// Placement of items on several GPUs and failover, with engines that only record. Calls of `run` that begin
// within others put several chunks in flight at once.
#include "exec/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <optional>
#include <thread>

#include "exec/batch.hpp"
#include "gpu/cuda/error.hpp"
#include "recording_engine.hpp"

namespace manymod::testing {
namespace {

constexpr std::array<Limb, 1> kModulus{35};
constexpr std::array<Limb, 1> kBase{3};

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

TEST_F(Placing, EachOfFourGetsItsShare) {
  use({132, 132, 132, 132});
  EXPECT_EQ(gpus_of(8), (Gpus{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_TRUE(all_computed());
  expect_idle();
}

TEST_F(Placing, OneAtATimeGoesToTheFirst) {
  use({132, 132});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(gpus_of(1), Gpus{0});
}

TEST_F(Placing, SharesGoBySize) {
  use({132, 66});
  EXPECT_EQ(gpus_of(6), (Gpus{0, 0, 1, 0, 0, 1}));
  use({132, 3});
  EXPECT_EQ(gpus_of(6), Gpus(6, 0));
  const Gpus many = gpus_of(90);
  EXPECT_EQ(std::count(many.begin(), many.end(), 1u),
            2);  // it takes as long for one chunk as the other GPU for 44
}

TEST_F(Placing, LoadsAreThoseOfAllEngines) {
  use({132, 132});
  const auto first = std::move(engines_);
  const std::vector<GpuRecorder*> first_gpus = gpus_;
  use({132, 132});
  first_gpus[0]->on_run = [this] { run(); };
  Job job;
  std::array<ItemStatus, 3> statuses{};
  job.status = statuses.data();
  run_items({*first}, 0, job, StopToken(), kItems, 1);
  EXPECT_EQ(order_, Gpus{1});
  EXPECT_NE(&gpu_load(0), &gpu_load(1));
  EXPECT_EQ(&gpu_load(3), &gpu_load(3));
}

TEST_F(Placing, ItemsOfAFailingGpuGoToAnother) {
  for (const cuda::Fault fault : {cuda::Fault::out_of_memory, cuda::Fault::other}) {
    use({132, 132});
    gpus_[0]->fault = fault;
    EXPECT_EQ(gpus_of(4), Gpus(4, 1));
    EXPECT_TRUE(all_computed());
    EXPECT_EQ(gpus_[0]->runs, 1);  // not used again while other work is in flight
    EXPECT_EQ(gpus_of(1), Gpus{1});
    EXPECT_EQ(gpus_[0]->runs, 2);
    gpus_[0]->fault.reset();
    EXPECT_EQ(gpus_of(2), (Gpus{0, 1}));
    expect_idle();
  }
}

TEST_F(Placing, ALostGpuIsNotUsedAgain) {
  use({132, 132, 132});
  gpus_[0]->fault = cuda::Fault::lost;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(gpus_of(4), (Gpus{1, 2, 1, 2}));
  EXPECT_EQ(gpus_[0]->runs, 1);
}

TEST_F(Placing, AFailedGpuIsPreferredToALostOne) {
  use({132, 132});
  gpus_[0]->fault = cuda::Fault::lost;
  run();
  ASSERT_EQ(order_, Gpus{1});
  order_.clear();
  // The second GPU fails while other work is under way on it, and then works again.
  gpus_[1]->on_run = [this] {
    gpus_[1]->fault = cuda::Fault::out_of_memory;
    EXPECT_THROW(run(), StatusError);
    gpus_[1]->fault.reset();
    gpus_[1]->on_run = [this] { order_.push_back(1); };
    const int runs_before = gpus_[0]->runs;
    run();
    EXPECT_EQ(order_, Gpus{1});
    EXPECT_EQ(gpus_[0]->runs, runs_before);
  };
  run();
  EXPECT_TRUE(all_computed());
  expect_idle();
}

TEST_F(Placing, FailsWhereAllFail) {
  use({132, 132});
  gpus_[0]->fault = cuda::Fault::lost;
  gpus_[1]->fault = cuda::Fault::out_of_memory;
  for (const auto& [round, status] : {std::pair{1, MM_ERR_DEVICE}, {2, MM_ERR_MEMORY}}) {
    try {
      run();
      FAIL() << "no error";
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status(), status) << error.what();  // the error of the first GPU
    }
    EXPECT_EQ(gpus_[0]->runs, round);
    EXPECT_EQ(gpus_[1]->runs, round);
    EXPECT_EQ(statuses_[0], ItemStatus::not_computed);
    expect_idle();
  }
}

TEST_F(Placing, OtherExceptionsReachTheCaller) {
  use({132, 132});
  gpus_[0]->on_run = [] { throw std::bad_alloc(); };
  EXPECT_THROW(run(), std::bad_alloc);
  EXPECT_EQ(gpus_[1]->runs, 0);
  expect_idle();
}

TEST_F(Placing, ModuliArePreparedWhereItemsGo) {
  use({132, 132});
  const PreparedModuli moduli(*engines_, kModulus, Operation::powmod, TimingClass::public_);
  EXPECT_EQ(gpus_[0]->moduli + gpus_[1]->moduli, 0);
  run(&moduli);
  run(&moduli);
  EXPECT_EQ(gpus_[0]->moduli, 1);
  EXPECT_EQ(gpus_[1]->moduli, 0);
  gpus_[0]->on_run = [&, nested = false]() mutable {
    if (!std::exchange(nested, true)) run(&moduli);
  };
  run(&moduli);
  EXPECT_EQ(gpus_[0]->moduli, 1);
  EXPECT_EQ(gpus_[1]->moduli, 1);
}

TEST_F(Placing, CombsAreComputedWhereItemsGo) {
  use({132, 132});
  const PreparedBases combs = bases();
  ASSERT_TRUE(prepare(combs));
  EXPECT_EQ(gpus_[0]->bases, 1);
  EXPECT_EQ(gpus_[1]->bases, 0);
  gpus_[0]->on_run = [&] { run(nullptr, &combs); };
  run(nullptr, &combs);
  run(nullptr, &combs);
  EXPECT_EQ(gpus_[0]->bases, 1);
  EXPECT_EQ(gpus_[1]->bases, 1);
  EXPECT_EQ(gpus_[0]->items_run(), 6u);
  EXPECT_EQ(gpus_[1]->items_run(), 6u);
}

TEST_F(Placing, ACombThatOneGpuCannotComputeIsComputedByAnother) {
  use({132, 132});
  gpus_[0]->comb_fault = cuda::Fault::out_of_memory;
  const PreparedBases combs = bases();
  ASSERT_TRUE(prepare(combs));
  EXPECT_EQ(gpus_[1]->bases, 1);
  run(nullptr, &combs);
  EXPECT_EQ(gpus_[0]->runs, 0);
  EXPECT_EQ(gpus_[1]->items_run(), 3u);
  EXPECT_TRUE(all_computed());
  gpus_[1]->comb_fault = cuda::Fault::lost;
  EXPECT_THROW(prepare(bases()), cuda::DriverError);
  expect_idle();
}

TEST_F(Placing, StopsWhileACombIsComputed) {
  use({132, 132});
  const PreparedBases combs = bases();
  ASSERT_TRUE(prepare(combs));
  stop_ = true;
  EXPECT_FALSE(prepare(bases()));
  gpus_[0]->fault = cuda::Fault::lost;
  run(nullptr, &combs);  // the second GPU has no comb
  EXPECT_EQ(gpus_[1]->runs, 0);
  EXPECT_EQ(statuses_[0], ItemStatus::not_computed);
}

TEST_F(Placing, EstimatesAreOfTheFirstGpuThatWorks) {
  use({132, 66});
  gpus_[0]->granularity = 500;
  gpus_[1]->granularity = 250;
  EXPECT_EQ(placement().chunk_granularity(Job(), 1), 500u);
  EXPECT_EQ(placement().item_cost_ns(Job(), 2), 2000);
  gpus_[0]->fault = cuda::Fault::lost;
  run();
  EXPECT_EQ(placement().chunk_granularity(Job(), 1), 250u);
  gpus_[1]->fault = cuda::Fault::lost;
  EXPECT_THROW(run(), cuda::DriverError);
  EXPECT_EQ(placement().chunk_granularity(Job(), 1), 500u);
}

TEST_F(Placing, TheCpuComesLast) {
  auto cpu = std::make_unique<RecordingEngine>();
  const RecordingEngine& recorder = *cpu;
  use({132, 132}, std::move(cpu));
  run();
  gpus_[0]->fault = cuda::Fault::lost;
  run();
  EXPECT_EQ(order_, (Gpus{0, 1}));
  EXPECT_EQ(recorder.items_run(), 0u);
  gpus_[1]->fault = cuda::Fault::lost;
  run();
  EXPECT_TRUE(all_computed());
  EXPECT_EQ(recorder.items_run(), 3u);
}

TEST_F(Placing, TheFallbackHasModuliAndCombsOfItsOwn) {
  auto cpu = std::make_unique<GpuRecorder>();
  GpuRecorder& fallback = *cpu;
  use({132}, std::move(cpu));
  const PreparedModuli moduli(*engines_, kModulus, Operation::powmod, TimingClass::public_);
  const PreparedBases combs = bases();
  ASSERT_TRUE(prepare(combs));
  run(&moduli);
  run(nullptr, &combs);
  EXPECT_EQ(gpus_[0]->runs, 2);
  EXPECT_EQ(fallback.moduli + fallback.bases + fallback.runs, 0);  // nothing while the GPU works
  gpus_[0]->fault = cuda::Fault::out_of_memory;
  run(&moduli);
  run(nullptr, &combs);
  run(nullptr, &combs);
  EXPECT_TRUE(all_computed());
  EXPECT_EQ(fallback.runs, 3);
  EXPECT_EQ(fallback.moduli, 1);
  EXPECT_EQ(fallback.bases, 1);
  gpus_[0]->fault.reset();
  run(&moduli);
  EXPECT_EQ(fallback.runs, 3);
  EXPECT_EQ(gpus_[0]->items_run(), 9u);
}

TEST_F(Placing, TheFallbackTakesABaseWhoseCombTheGpuCannotCompute) {
  auto cpu = std::make_unique<GpuRecorder>();
  const GpuRecorder& fallback = *cpu;
  use({132}, std::move(cpu));
  gpus_[0]->comb_fault = cuda::Fault::out_of_memory;
  const PreparedBases combs = bases();
  ASSERT_TRUE(prepare(combs));
  run(nullptr, &combs);
  EXPECT_TRUE(all_computed());
  EXPECT_EQ(gpus_[0]->runs, 0);
  EXPECT_EQ(fallback.runs, 1);
}

// A result may have overwritten an operand, so computed items must not be computed again.
TEST_F(Placing, OnlyUnfinishedItemsAreComputedElsewhere) {
  auto cpu = std::make_unique<RecordingEngine>();
  const RecordingEngine& recorder = *cpu;
  use({132}, std::move(cpu));
  gpus_[0]->on_item = [](std::size_t item, const StopToken&) {
    if (item == 1) throw StatusError(MM_ERR_DEVICE, "lost");
  };
  run();
  ASSERT_EQ(recorder.calls().size(), 1u);
  EXPECT_EQ(recorder.calls()[0].items, (std::vector<std::size_t>{1, 2}));
}

TEST_F(Placing, ErrorsOfTheCallAreNotTriedElsewhere) {
  use({132, 132}, std::make_unique<RecordingEngine>());
  gpus_[0]->on_run = [] { throw StatusError(MM_ERR_ARGUMENT, "malformed"); };
  EXPECT_THROW(run(), StatusError);
  EXPECT_EQ(gpus_[1]->runs, 0);
  expect_idle();
}

TEST_F(Placing, RunsOnGpusAlone) {
  const auto fails = [](std::size_t) { throw StatusError(MM_ERR_DEVICE, "fails"); };
  std::vector<std::size_t> places;
  const auto records = [&](std::size_t place) { places.push_back(place); };
  const Placement gpus = placement_of({132, 66}, std::make_unique<RecordingEngine>());
  EXPECT_TRUE(gpus.run_on_gpu(1, records));
  EXPECT_EQ(places, Gpus{0});
  EXPECT_FALSE(gpus.run_on_gpu(1, fails));
  const Placement cpu(std::make_unique<RecordingEngine>());
  EXPECT_FALSE(cpu.run_on_gpu(1, records));
  EXPECT_EQ(places, Gpus{0});
  EXPECT_EQ(gpus.size(), 3u);
  EXPECT_EQ(cpu.size(), 1u);
  expect_idle();
}

TEST_F(Placing, ManyThreads) {
  use({132, 132, 66});
  for (GpuRecorder* gpu : gpus_) gpu->on_run = [] { std::this_thread::yield(); };
  gpus_[2]->fault = cuda::Fault::out_of_memory;
  constexpr std::size_t kThreads = 6, kRuns = 200;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([this] {
      std::array<ItemStatus, 3> statuses{};
      Job job;
      job.status = statuses.data();
      for (std::size_t i = 0; i < kRuns; ++i) {
        statuses.fill(ItemStatus::not_computed);
        run_items({*engines_}, 0, job, StopToken(), kItems, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gpus_[0]->items_run() + gpus_[1]->items_run(), kThreads * kRuns * kItems.size());
  expect_idle();
}

// The chunks of a call: how many threads feed the GPUs, and how small batches are placed.
class PlacingCall : public Placing {
 protected:
  static constexpr std::size_t kCount = 4000;

  PlacingCall() : moduli_(kCount, 5), results_(kCount), item_statuses_(kCount) {
    job_.op = Operation::mulmod;
    job_.modulus = {moduli_.data(), kCount, 1, 1, nullptr};
    job_.result = {results_.data(), kCount, 1, 1, nullptr};
    job_.status = item_statuses_.data();
  }

  bool execute_on(std::initializer_list<unsigned> sizes, double item_ns, std::size_t wave, unsigned threads) {
    use(sizes);
    for (GpuRecorder* gpu : gpus_) {
      gpu->on_run = on_chunk;
      gpu->cost_ns_per_limb = item_ns;
      gpu->granularity = wave;
    }
    return compute_batch({*engines_}, job_, bucket_each(job_, 64), threads, {});
  }

  [[nodiscard]] std::size_t computed() const {
    return static_cast<std::size_t>(std::count(item_statuses_.begin(), item_statuses_.end(), ItemStatus::ok));
  }

  std::function<void()> on_chunk;
  std::vector<Limb> moduli_, results_;
  std::vector<ItemStatus> item_statuses_;
  Job job_;
};

// Each thread waits in its first chunk for the others.
TEST_F(PlacingCall, ThreeThreadsFeedEach) {
  std::atomic<unsigned> began{0};
  on_chunk = [&began] {
    ++began;
    while (began < 12) std::this_thread::yield();
  };
  EXPECT_TRUE(execute_on({132, 132, 132, 132}, 1e6, 10, 1));
  EXPECT_EQ(computed(), kCount);
  for (const GpuRecorder* gpu : gpus_) EXPECT_GE(gpu->calls().size(), 3u);
  expect_idle();
}

TEST_F(PlacingCall, AWaveIsNotSplit) {
  EXPECT_TRUE(execute_on({132, 132}, 1e4, 5000, 0));
  EXPECT_EQ(gpus_[0]->calls().size() + gpus_[1]->calls().size(), 1u);
  EXPECT_EQ(computed(), kCount);
}

TEST_F(PlacingCall, ChunksAreWholeWaves) {
  EXPECT_TRUE(execute_on({132, 132}, 1e4, 300, 0));
  std::size_t parts = 0;
  for (const GpuRecorder* gpu : gpus_) {
    for (const auto& call : gpu->calls()) parts += call.items.size() % 300 != 0 ? 1 : 0;
  }
  EXPECT_EQ(parts, 1u);
  EXPECT_EQ(computed(), kCount);
}

TEST_F(PlacingCall, AFailingGpuCostsNoItem) {
  std::atomic<int> chunks{0};
  on_chunk = [&chunks] {
    if (++chunks == 3) throw cuda::DriverError(cuda::Fault::lost, 1, "lost in the middle");
  };
  EXPECT_TRUE(execute_on({132, 132}, 1e5, 100, 0));
  EXPECT_EQ(computed(), kCount);
  on_chunk = [] { throw cuda::DriverError(cuda::Fault::lost, 1, "lost"); };
  EXPECT_THROW(execute_on({132, 132}, 1e5, 100, 0), cuda::DriverError);
  expect_idle();
}

}  // namespace
}  // namespace manymod::testing
