// SPDX-License-Identifier: Apache-2.0
// Placement of items on several GPUs and failover, with engines that only record.
#include "exec/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>
#include <thread>

#include "placing.hpp"

namespace manymod::testing {
namespace {

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
  EXPECT_NE(&gpu_load(Backend::cuda, 0), &gpu_load(Backend::cuda, 1));
  EXPECT_NE(&gpu_load(Backend::cuda, 0), &gpu_load(Backend::opencl, 0));
  EXPECT_EQ(&gpu_load(Backend::cuda, 3), &gpu_load(Backend::cuda, 3));
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

}  // namespace
}  // namespace manymod::testing
