// SPDX-License-Identifier: Apache-2.0
// Calls spread over several real GPUs, against the CPU. Skipped where there are fewer than two.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "exec/counted_gpus.hpp"

namespace manymod::testing {
namespace {

std::span<const Device> cuda_devices() { return devices_for("cuda"); }

class GpuPlacement : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto usable = [](const Device& device) {
      return device.backend == Backend::cuda && device.obstacle.empty();
    };
    gpus_ = static_cast<std::size_t>(std::count_if(cuda_devices().begin(), cuda_devices().end(), usable));
    if (gpus_ < 2) GTEST_SKIP() << "needs two GPUs, there are " << gpus_ << " that can be used";
    calls_.counts.wait_for = gpus_;
  }

  void compare(Operation op, TimingClass timing, const char* variant, const Numbers& x, const Numbers& y,
               const Numbers& n) {
    const EngineSet gpu = calls_.engines(op, timing, n.width, "cuda", variant);
    const EngineSet cpu = calls_.engines(op, timing, n.width, "cpu", "scalar64.generic");
    expect_equal(CountedCalls::run(gpu, op, timing, x, y, n), CountedCalls::run(cpu, op, timing, x, y, n),
                 variant);
  }

  // The number of GPUs that computed at least half of an even share.
  [[nodiscard]] std::size_t busy(std::size_t items) const {
    return static_cast<std::size_t>(
        std::count_if(calls_.counts.items.begin(), calls_.counts.items.end(),
                      [&](const auto& count) { return count * 2 * gpus_ >= items; }));
  }

  std::size_t gpus_ = 0;
  CountedCalls calls_{cuda_devices()};
  RandomNumbers random_{41};
};

TEST_F(GpuPlacement, AllGpusComputeCorrectResults) {
  constexpr std::size_t kCount = 200'000, kWidth = 8;
  const Numbers n = random_.odd_moduli(kCount, kWidth), x = random_.any(kCount, kWidth);
  const Numbers y = random_.any(kCount, 1);
  for (const char* variant : {"row32.cuda.t8", "dpf52.cuda.t4"}) {
    for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
      compare(Operation::powmod, timing, variant, x, y, n);  // the first use of a GPU is slow
      calls_.counts.forget();
      compare(Operation::powmod, timing, variant, x, y, n);
      EXPECT_EQ(calls_.counts.used(), gpus_) << variant;
    }
  }
}

TEST_F(GpuPlacement, SharesAreEvenOnLongCalls) {
  constexpr std::size_t kCount = 60'000, kWidth = 32;
  const Numbers n = random_.odd_moduli(kCount, kWidth), x = random_.any(kCount, kWidth);
  const Numbers y = random_.any(kCount, kWidth);
  const EngineSet gpu =
      calls_.engines(Operation::powmod, TimingClass::public_, kWidth, "cuda", "row32.cuda.t8");
  const EngineSet first =
      calls_.engines(Operation::powmod, TimingClass::public_, kWidth, "cuda:0", "row32.cuda.t8");
  const auto run = [&](const EngineSet& engines) {
    return CountedCalls::run(engines, Operation::powmod, TimingClass::public_, x, y, n);
  };
  calls_.counts.wait_for = 1;
  const Numbers expected = run(first);
  EXPECT_EQ(calls_.counts.used(), 1u);
  static_cast<void>(run(gpu));
  calls_.counts.forget();
  expect_equal(run(gpu), expected, "all GPUs against the first");
  const bool equal_sizes =
      std::all_of(cuda_devices().begin() + 2, cuda_devices().end(),
                  [](const Device& device) { return device.units == cuda_devices()[1].units; });
  if (equal_sizes) {
    EXPECT_EQ(busy(kCount), gpus_);
  }
}

TEST_F(GpuPlacement, ProductsOfManyItems) {
  constexpr std::size_t kCount = 1'500'000, kWidth = 2;
  const Numbers n = random_.odd_moduli(kCount, kWidth), x = random_.any(kCount, kWidth);
  const Numbers y = random_.any(kCount, kWidth);
  compare(Operation::mulmod, TimingClass::public_, "row32.cuda.t1", x, y, n);
  EXPECT_EQ(calls_.counts.used(), gpus_);
}

TEST_F(GpuPlacement, FixedBasesHaveACombOnEach) {
  constexpr std::size_t kCount = 400'000, kWidth = 4;
  const Numbers n = random_.odd_moduli(1, kWidth), g = random_.any(1, kWidth);
  const Numbers y = random_.any(kCount, kWidth);
  for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
    const auto run = [&](const EngineSet& engines) {
      const PreparedBases bases(engines, g.view(), n[0], kWidth * kLimbBits, timing);
      return CountedCalls::run(engines, bases, timing, y, n);
    };
    const auto engines = [&](const char* device, const char* variant) {
      return calls_.engines(Operation::fixed_base_powmod, timing, kWidth, device, variant);
    };
    const Numbers expected = run(engines("cpu", "scalar64.generic"));
    expect_equal(run(engines("cuda", "row32.cuda.t4")), expected, "fixed base");
    EXPECT_EQ(calls_.counts.used(), gpus_);
  }
}

TEST_F(GpuPlacement, AGpuThatIsLostCostsNoItem) {
  constexpr std::size_t kCount = 100'000, kWidth = 8;
  const Numbers n = random_.odd_moduli(kCount, kWidth), x = random_.any(kCount, kWidth);
  const Numbers y = random_.any(kCount, 1);
  calls_.counts.wait_for = 1;
  calls_.counts.lost[0] = true;
  compare(Operation::powmod, TimingClass::public_, "row32.cuda.t8", x, y, n);
  EXPECT_EQ(calls_.counts.items[0], 0u);
}

// Each batch is small, so that only several callers together keep the GPUs busy.
TEST_F(GpuPlacement, ManyCallers) {
  constexpr std::size_t kCount = 500, kWidth = 16, kCallers = 8;
  const Numbers n = random_.odd_moduli(kCount, kWidth), x = random_.any(kCount, kWidth);
  const Numbers y = random_.any(kCount, kWidth);
  const EngineSet gpu =
      calls_.engines(Operation::powmod, TimingClass::secret, kWidth, "cuda", "row32.cuda.t8");
  const EngineSet cpu =
      calls_.engines(Operation::powmod, TimingClass::secret, kWidth, "cpu", "scalar64.generic");
  const Numbers expected = CountedCalls::run(cpu, Operation::powmod, TimingClass::secret, x, y, n);
  calls_.counts.wait_for = std::min(gpus_, kCallers);
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        expect_equal(CountedCalls::run(gpu, Operation::powmod, TimingClass::secret, x, y, n), expected,
                     "one of many callers");
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_GE(calls_.counts.used(), std::min(gpus_, kCallers));
}

}  // namespace
}  // namespace manymod::testing
