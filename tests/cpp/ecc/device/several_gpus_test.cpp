// SPDX-License-Identifier: Apache-2.0
// Calls on curves that several GPUs share, on the substitute for the CUDA driver. X25519 and kernels for any
// curve need no tables, which take long on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/status_error.hpp"
#include "dispatch/devices.hpp"
#include "ecc/cuda/variants.cuda.hpp"
#include "ecc/device/noting_device.hpp"
#include "ecc/plan.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/schemes/choice.hpp"
#include "ecc/schemes/scheme_runs.hpp"
#include "ecc/test_bytes.hpp"
#include "exec/gpu_load.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/engine/workspace.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;
using manymod::testing::noise;

constexpr const char* kLadder = "ecc_x25519_ladder";

class CudaSeveralGpus : public manymod::testing::FakeGpuTest {
 protected:
  static constexpr std::size_t kCount = 4;
  static constexpr unsigned kGpus = 2;

  void SetUp() override {
    FakeGpuTest::SetUp();
    fake_cuda::settings().devices = kGpus;
    for (std::size_t i = 0; i < kCount; ++i) {
      items_.secret.push_back(noise(32, 2 * i));
      items_.point.push_back(noise(32, 2 * i + 1));
    }
  }

  static std::unique_ptr<const ecc::PointEngine> on_host() {
    return ecc::scalar64::variant().make(ecc::named_curve(CurveId::x25519), {});
  }
  static std::unique_ptr<const ecc::PointEngine> on_gpus() {
    const std::array<gpu::Device*, kGpus> devices{&cuda::Driver::current().device(0),
                                                  &cuda::Driver::current().device(1)};
    return ecc::cuda::make_engine(ecc::named_curve(CurveId::x25519), devices, on_host());
  }
  [[nodiscard]] std::vector<Bytes> secrets_by(const ecc::PointEngine& engine) const {
    SchemeRun run(items_, kCount, Places::rows);
    run.run([&](const ecc::Inputs& inputs, const ecc::Outputs& outputs) {
      return ecc::make_scheme({MM_ECC_EXCHANGE, MM_ECC_DEFAULT}, engine, inputs, outputs);
    });
    EXPECT_EQ(run.status, std::vector<std::uint8_t>(kCount, MM_OK));
    return run.output;
  }
  /// Whether each GPU has work.
  static std::array<bool, kGpus> busy() {
    return {gpu_load(Backend::cuda, 0).work() > 0, gpu_load(Backend::cuda, 1).work() > 0};
  }

  SchemeItems items_;
};

/// A call that begins while another one is computed goes to the idle GPU.
TEST_F(CudaSeveralGpus, EachGetsItsShare) {
  using Busy = std::array<bool, kGpus>;
  const std::vector<Bytes> expected = secrets_by(*on_host());
  const auto engine = on_gpus();
  EXPECT_EQ(engine->gpus(), kGpus);
  std::vector<Busy> seen;
  std::vector<Bytes> second;
  const fake_cuda::KernelFunction ladder = fake_cuda::kernel(kLadder);
  fake_cuda::add_kernel(kLadder, [&](const fake_cuda::Launch& launch, void** parameters) {
    seen.push_back(busy());
    if (seen.size() == 1) second = secrets_by(*engine);
    ladder(launch, parameters);
  });
  EXPECT_EQ(secrets_by(*engine), expected);
  EXPECT_EQ(second, expected);
  EXPECT_EQ(seen, (std::vector<Busy>{{true, false}, {true, true}}));
  EXPECT_EQ(busy(), (Busy{false, false}));
}

/// Each launch of a call fails once: the other GPU computes the items, and none is left to the host.
TEST_F(CudaSeveralGpus, TakeOverFromEachOther) {
  const std::vector<Bytes> expected = secrets_by(*on_host());
  const NotingDevice engine(on_gpus());
  bool failed = true;
  std::size_t launch = 0;
  for (; failed; ++launch) {
    const std::size_t failing = fake_cuda::counts().launches + launch;
    fake_cuda::settings().failing_launch = failing;
    EXPECT_EQ(secrets_by(engine), expected) << launch;
    EXPECT_EQ(engine.done, std::vector<std::uint8_t>(kCount, 1)) << launch;
    failed = fake_cuda::counts().launches > failing;
    fake_cuda::settings().failing_launch = fake_cuda::kNever;
  }
  EXPECT_GT(launch, 3U);
  EXPECT_EQ(busy(), (std::array<bool, kGpus>{false, false}));
}

/// Engines of other plans keep all memory, which the GPUs of the substitute share, and use none of it.
TEST_F(CudaSeveralGpus, FreeWhatOthersKeep) {
  constexpr std::size_t kKept = std::size_t{1} << 20;
  const std::vector<Bytes> expected = secrets_by(*on_host());
  fake_cuda::settings().memory_bytes = kKept;
  gpu::Workspaces others(cuda::Driver::current().device(0));
  others.lend([](gpu::Workspace& workspace) { workspace.on_device(kKept); });
  const NotingDevice engine(on_gpus());
  EXPECT_EQ(secrets_by(engine), expected);
  EXPECT_EQ(engine.done, std::vector<std::uint8_t>(kCount, 1));
}

/// A forked child has no GPUs: the host computes, without a call of the driver.
TEST_F(CudaSeveralGpus, AreNotUsedInForkedChildren) {
  const std::vector<Bytes> expected = secrets_by(*on_host());
  const auto engine = on_gpus();
  EXPECT_EQ(secrets_by(*engine), expected);
  EXPECT_NO_THROW(engine->check_usable());
  EXPECT_TRUE(manymod::testing::true_in_child([&] {
    const std::size_t calls = fake_cuda::counts().calls;
    const bool same = secrets_by(*engine) == expected && fake_cuda::counts().calls == calls;
    return same && manymod::testing::fault_in([&] { engine->check_usable(); }) == cuda::Fault::forked;
  }));
}

/// Plans use all GPUs that a device option names; those that cannot be opened are left out.
TEST_F(CudaSeveralGpus, AreThoseOfTheDeviceOption) {
  const std::shared_ptr<const ecc::Curve> curve(&ecc::named_curve(CurveId::brainpool256r1),
                                                [](const auto*) {});
  const auto gpus_of = [&curve](const char* device) {
    mm_ecc_plan_options options{};
    options.device = device;
    const ecc::Plan plan(options, {&curve, 1});
    const ecc::PointEngine* const engine = plan.curve(0).on_gpu();
    return engine == nullptr ? 0U : engine->gpus();
  };
  EXPECT_EQ(gpus_of("cpu"), 0U);
  EXPECT_EQ(gpus_of("cuda:1"), 1U);
  EXPECT_EQ(gpus_of("cuda"), kGpus);
  EXPECT_EQ(gpus_of("auto"), kGpus);
  EXPECT_THROW(gpus_of("cuda:2"), StatusError);
}

}  // namespace
}  // namespace manymod::test
