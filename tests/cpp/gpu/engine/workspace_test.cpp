// SPDX-License-Identifier: Apache-2.0
// The number of workspaces in use after memory was short.
#include "gpu/engine/workspace.hpp"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "gpu/cuda/backend.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

using gpu::Workspaces;

class CudaWorkspaces : public FakeGpuTest {};

/// One that is short of memory beside another leaves it alone at first; later both are in use again.
TEST_F(CudaWorkspaces, AShortageOfMemoryPasses) {
  Workspaces workspaces(cuda::backend().device(0), 2);
  {
    const Workspaces::Lease one(workspaces);
    Workspaces::Lease another(workspaces);
    EXPECT_TRUE(another.make_room());
  }
  for (std::size_t use = 0; use < Workspaces::kUsesPerPlace; ++use) workspaces.lend([](gpu::Workspace&) {});
  std::optional<Workspaces::Lease> one(std::in_place, workspaces);
  const auto another = std::async(std::launch::async, [&] { const Workspaces::Lease lease(workspaces); });
  // A wait without end fails the test.
  EXPECT_EQ(another.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  one.reset();
}

/// What the engines of other plans keep for their next call is freed for one that is short of memory.
TEST_F(CudaWorkspaces, OthersFreeWhatTheyDoNotUse) {
  constexpr std::size_t kBytes = 1000;
  fake_cuda::settings().memory_bytes = kBytes + kBytes / 2;
  Workspaces workspaces(cuda::backend().device(0)), others(cuda::backend().device(0));
  const auto use = [](gpu::Workspace& workspace) { workspace.on_device(kBytes); };
  for (Workspaces* const each : {&workspaces, &others, &workspaces}) {
    EXPECT_NO_THROW(each->lend(use));
    EXPECT_EQ(fake_cuda::counts().allocations, 1U);
  }
  others.lend([&](gpu::Workspace& busy) {
    use(busy);
    EXPECT_THROW(workspaces.lend(use), gpu::DeviceError);
  });
}

/// Where memory never suffices for both they take turns, and none fails.
TEST_F(CudaWorkspaces, EachGetsItsTurnWhereMemoryStaysShort) {
  constexpr std::size_t kBytes = 1000, kUses = 4 * Workspaces::kUsesPerPlace;
  fake_cuda::settings().memory_bytes = kBytes + kBytes / 2;
  Workspaces workspaces(cuda::backend().device(0), 2);
  const auto use_often = [&] {
    std::size_t done = 0;
    for (std::size_t use = 0; use < kUses; ++use) {
      workspaces.lend([&](gpu::Workspace& workspace) {
        workspace.on_device(kBytes);
        ++done;
      });
    }
    return done;
  };
  auto another = std::async(std::launch::async, use_often);
  EXPECT_EQ(use_often(), kUses);
  EXPECT_EQ(another.get(), kUses);
}

}  // namespace
}  // namespace manymod::testing
