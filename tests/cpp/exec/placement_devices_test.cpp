// SPDX-License-Identifier: Apache-2.0
// Calls spread over several GPUs of the fake driver: devices, contexts and engines are the library's own.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "api/plan_helpers.hpp"
#include "exec/counted_gpus.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

class PlacingOnDevices : public FakeGpuTest {
 protected:
  static constexpr std::size_t kCount = 20'000, kWidth = 4;
  static constexpr const char* kVariant = "row32.cuda.t1";

  void look(unsigned gpus) {
    fake_cuda::settings().devices = gpus;
    hardware_ = find_hardware(Listing::forkable);
    ASSERT_EQ(hardware_.devices.size(), gpus + 1);
    calls_.emplace(hardware_.devices);
  }

  [[nodiscard]] EngineSet engines(std::string_view device, std::string_view variant = kVariant,
                                  Operation op = Operation::mulmod) const {
    return calls_->engines(op, TimingClass::public_, kWidth, device, variant);
  }

  Numbers run(const EngineSet& engines) {
    return CountedCalls::run(engines, Operation::mulmod, TimingClass::public_, x_, y_, n_);
  }
  Numbers run_on(std::string_view device) { return run(engines(device)); }
  Numbers expected() { return run(engines("cpu", "scalar64.generic")); }

  RandomNumbers random_{7};
  const Numbers n_ = random_.odd_moduli(kCount, kWidth), x_ = random_.any(kCount, kWidth);
  const Numbers y_ = random_.any(kCount, kWidth);
  Hardware hardware_;
  std::optional<CountedCalls> calls_;
};

TEST_F(PlacingOnDevices, EachOfFourComputes) {
  look(4);
  calls_->counts.wait_for = 4;
  for (const char* device : {"cuda", "auto"}) {
    calls_->counts.forget();
    expect_equal(run_on(device), expected(), device);
    EXPECT_EQ(calls_->counts.used(), 4u) << device;
  }
  EXPECT_EQ(fake_cuda::counts().contexts, 4u);
}

TEST_F(PlacingOnDevices, OneByNameIsAlone) {
  look(3);
  expect_equal(run_on("cuda:1"), expected(), "cuda:1");
  EXPECT_EQ(calls_->counts.items[1], kCount);
  EXPECT_EQ(fake_cuda::counts().contexts, 1u);
}

TEST_F(PlacingOnDevices, AWaveStaysTogether) {
  look(2);
  const std::size_t wave = 128;
  const Numbers n = random_.odd_moduli(wave, kWidth), x = random_.any(wave, kWidth);
  const Numbers y = random_.any(wave, kWidth);
  static_cast<void>(CountedCalls::run(engines("cuda"), Operation::mulmod, TimingClass::public_, x, y, n));
  EXPECT_EQ(calls_->counts.items[0], wave);
  EXPECT_EQ(fake_cuda::counts().contexts, 1u);
}

TEST_F(PlacingOnDevices, OneOfTwoIsLost) {
  for (const std::size_t lost : {0u, 1u}) {
    look(2);
    calls_->counts.lost[lost] = true;
    for (const char* device : {"cuda", "auto"}) {
      calls_->counts.forget();
      expect_equal(run_on(device), expected(), device);
      EXPECT_EQ(calls_->counts.items[1 - lost], kCount);
    }
  }
}

TEST_F(PlacingOnDevices, AllAreLost) {
  look(2);
  fake_cuda::settings().lost_at_call = fake_cuda::counts().calls + 40;
  expect_equal(run_on("auto"), expected(), "auto");
  EXPECT_LT(calls_->counts.items[0] + calls_->counts.items[1], kCount);
  const auto error = driver_error([this] { static_cast<void>(run_on("cuda")); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), cuda::Fault::lost);
  EXPECT_EQ(error->status(), MM_ERR_DEVICE);
}

// The first kernel waits until the other GPU has a context.
TEST_F(PlacingOnDevices, APlanUsesAll) {
  look(2);
  fake_cuda::add_kernel("row32_1x8", [kernel = fake_cuda::kernel("row32_1x8")](
                                         const fake_cuda::Launch& launch, void** parameters) {
    while (fake_cuda::counts().contexts < 2) std::this_thread::yield();
    kernel(launch, parameters);
  });
  mm_plan_options options = plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, kWidth * kLimbBits);
  options.device = "cuda";
  options.variant = kVariant;
  const PlanPointer plan = make_plan(options);
  Numbers computed(kCount, kWidth);
  const auto view = [](const Numbers& numbers) {
    return mm_view{numbers.limbs.data(), numbers.count, numbers.width, numbers.width, nullptr};
  };
  const mm_call call =
      make_call(view(x_), view(y_), view(n_), {computed.limbs.data(), kCount, kWidth, kWidth, nullptr});
  ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
  expect_equal(computed, expected(), "a plan");
  EXPECT_STREQ(mm_plan_variant(plan.get()), kVariant);
}

TEST_F(PlacingOnDevices, FixedBasesHaveACombOnEach) {
  look(2);
  const Numbers n = random_.odd_moduli(1, 1), g = random_.any(1, 1);
  constexpr std::size_t kBits = 16;
  Numbers y(kCount, 16);  // in wide arrays, for which the estimated cost is higher
  for (std::size_t i = 0; i < kCount; ++i) y.limbs[i * y.width] = i % (Limb{1} << kBits);
  const auto powers = [&](const EngineSet& engines) {
    const PreparedBases bases(engines, g.view(), n[0], kBits, TimingClass::public_);
    static_cast<void>(bases.prepare(bases.main_choice(), StopToken()));
    return CountedCalls::run(engines, bases, TimingClass::public_, y, n);
  };
  calls_->counts.wait_for = 2;
  const Numbers right = powers(engines("cpu", "scalar64.generic", Operation::fixed_base_powmod));
  expect_equal(powers(engines("cuda", kVariant, Operation::fixed_base_powmod)), right, "two GPUs");
  EXPECT_EQ(calls_->counts.used(), 2u);
  EXPECT_GE(calls_->counts.combs[0], 1u);
  EXPECT_GE(calls_->counts.combs[1], 1u);
  calls_->counts.wait_for = 1;
  calls_->counts.lost[0] = true;
  expect_equal(powers(engines("cuda", kVariant, Operation::fixed_base_powmod)), right, "the second alone");
}

}  // namespace
}  // namespace manymod::testing
