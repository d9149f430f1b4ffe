// SPDX-License-Identifier: Apache-2.0
// Listing of GPUs, which neither creates a context nor, with NVML, initialises the driver.
#include "gpu/cuda/probe.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/devices.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/device_code.hpp"
#include "gpu/cuda/nvml.hpp"
#include "gpu/cuda/requirements.hpp"
#include "gpu/nvidia.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

using cuda::Driver;
using cuda::Probe;

const cuda::CudaTraits& traits_of(const Device& device) {
  return static_cast<const cuda::CudaTraits&>(*device.traits);
}

class CudaProbe : public FakeCudaTest {
 protected:
  static Probe probe() { return cuda::probe(Driver::current()); }
};

TEST_F(CudaProbe, ByNvmlWithoutInitialising) {
  fake_cuda::settings().devices = 2;
  const Probe found = probe();
  EXPECT_EQ(found.obstacle, "");
  EXPECT_EQ(found.driver_version, 13000);
  ASSERT_EQ(found.devices.size(), 2u);
  EXPECT_EQ(found.devices[1].model, "Fake GPU");
  EXPECT_EQ(found.devices[1].compute_capability, 90u);
  EXPECT_EQ(found.devices[1].multiprocessors, 132u);
  EXPECT_EQ(found.devices[1].memory_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(found.devices[1].obstacle, "");
  EXPECT_EQ(fake_cuda::counts().initialisations, 0u);
  EXPECT_EQ(fake_cuda::counts().calls, 0u);
  EXPECT_TRUE(true_in_child([] { return cuda::device(0).index() == 0; })) << "a child can use CUDA";
}

TEST_F(CudaProbe, ByTheDriverWithoutAContext) {
  for (const bool library_exists : {false, true}) {
    auto sources = fake_sources();
    if (!library_exists) sources.management = "libmanymod-no-such-nvml.so.1";
    Driver::use(sources);
    fake_cuda::settings().management = false;
    const Probe found = probe();
    ASSERT_EQ(found.devices.size(), 1u);
    EXPECT_EQ(found.devices[0].model, "Fake GPU");
    EXPECT_EQ(found.devices[0].compute_capability, 90u);
    EXPECT_EQ(found.devices[0].multiprocessors, 132u);
    EXPECT_EQ(fake_cuda::counts().contexts, 0u);
  }
}

TEST_F(CudaProbe, TheDriverOrdersHeterogeneousGpusAndPartitions) {
  fake_cuda::settings().devices = 2;
  fake_cuda::settings().different_models = true;
  EXPECT_EQ(probe().devices.size(), 2u);
  EXPECT_EQ(fake_cuda::counts().initialisations, 1u);
  fake_cuda::reset();
  Driver::use(fake_sources());
  fake_cuda::settings().partitioned = true;
  EXPECT_EQ(probe().devices.size(), 1u);
  EXPECT_EQ(fake_cuda::counts().initialisations, 1u);
}

TEST_F(CudaProbe, VisibleDevices) {
  fake_cuda::settings().devices = 3;
  setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
  EXPECT_EQ(probe().devices.size(), 2u);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(probe().obstacle, "the NVIDIA driver offers no GPU to this process");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(CudaProbe, ReportsAMissingDriver) {
  auto sources = fake_sources();
  sources.driver = "libmanymod-no-such-driver.so.1";
  Driver::use(sources);
  const Probe found = probe();
  EXPECT_EQ(found.driver_version, 0);
  EXPECT_TRUE(found.devices.empty());
  EXPECT_TRUE(found.obstacle.starts_with("no NVIDIA driver: ")) << found.obstacle;
}

TEST_F(CudaProbe, ReportsAnOldDriver) {
  fake_cuda::settings().version = 11040;
  const Probe found = probe();
  EXPECT_EQ(found.driver_version, 11040);
  EXPECT_TRUE(found.devices.empty());
  EXPECT_NE(found.obstacle.find("too old"), std::string::npos);
}

TEST_F(CudaProbe, ReportsABrokenDriver) {
  fake_cuda::settings().management = false;
  fake_cuda::settings().init_result = 803;
  EXPECT_EQ(probe().obstacle, "cuInit failed: CUDA error 803");
  fake_cuda::reset();
  Driver::use(fake_sources());
  fake_cuda::settings().management = false;
  fake_cuda::settings().lost_at_call = 1;
  EXPECT_EQ(probe().obstacle, "cuda:0: cuDeviceGet failed: CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(CudaProbe, ProhibitedDevice) {
  for (const bool management : {true, false}) {
    Driver::use(fake_sources());
    fake_cuda::settings().management = management;
    fake_cuda::settings().prohibited = true;
    EXPECT_EQ(probe().devices.at(0).obstacle, "its compute mode is prohibited");
  }
}

TEST_F(CudaProbe, ForkedChildrenSeeWhyDevicesAreUnusable) {
  cuda::device(0);
  EXPECT_TRUE(true_in_child([] {
    const Probe found = probe();
    return found.devices.size() == 1 && found.devices[0].obstacle == cuda::forked_message() &&
           fake_cuda::counts().misuses == 0;
  }));
}

std::vector<cuda::ManagedDevice> three_gpus(const std::string& last_model) {
  return {{{"A", 90, 1, 1, {}}, "GPU-aab", false},
          {{"A", 90, 1, 1, {}}, "GPU-abc", false},
          {{last_model, 90, 1, 1, {}}, "GPU-bcd", false}};
}

TEST(CudaVisibleOrder, Lists) {
  using Order = std::vector<std::size_t>;
  const auto order = [](const char* list) { return cuda::visible_order(three_gpus("A"), list, nullptr); };
  EXPECT_EQ(order(nullptr), (Order{0, 1, 2}));
  EXPECT_EQ(order(""), Order{});
  EXPECT_EQ(order("1"), Order{1});
  EXPECT_EQ(order("2,0"), (Order{2, 0}));
  EXPECT_EQ(order("-1"), Order{});
  EXPECT_EQ(order("1,-1,2"), Order{1});
  EXPECT_EQ(order("0,3,1"), Order{0});
  EXPECT_EQ(order("GPU-b,GPU-abc"), (Order{2, 1}));
  EXPECT_EQ(order("0,GPU-x,1"), Order{0});
  for (const char* unclear : {"GPU-a", "0,0", "x", "0, 1", ",0", "MIG-1234", "99999999999999999999", "1x"}) {
    EXPECT_EQ(order(unclear), std::nullopt) << unclear;
  }
}

TEST(CudaVisibleOrder, HeterogeneousGpusNeedTheBusOrder) {
  EXPECT_EQ(cuda::visible_order(three_gpus("B"), nullptr, nullptr), std::nullopt);
  EXPECT_EQ(cuda::visible_order(three_gpus("B"), nullptr, "FASTEST_FIRST"), std::nullopt);
  EXPECT_TRUE(cuda::visible_order(three_gpus("B"), nullptr, "PCI_BUS_ID").has_value());
  EXPECT_TRUE(cuda::visible_order({}, nullptr, nullptr).has_value());
}

TEST_F(CudaProbe, HardwareListsGpusAfterTheCpu) {
  fake_cuda::settings().devices = 2;
  const Hardware found = find_hardware(Listing::forkable);
  ASSERT_EQ(found.devices.size(), 3u);
  EXPECT_EQ(found.devices[0].name, "cpu");
  EXPECT_EQ(found.devices[2].name, "cuda:1");
  EXPECT_EQ(found.devices[2].backend, Backend::cuda);
  EXPECT_EQ(found.devices[2].features, "sm_90");
  EXPECT_EQ(found.devices[2].units, 132u);
  EXPECT_TRUE(traits_of(found.devices[2]).full_rate_doubles());
  ASSERT_EQ(found.gpus.size(), 1u);
  EXPECT_EQ(found.gpus[0].backend, Backend::cuda);
  EXPECT_TRUE(found.gpus[0].built);
  EXPECT_EQ(found.gpus[0].driver, "13.0");
  EXPECT_EQ(found.gpus[0].obstacle, "");
}

TEST_F(CudaProbe, HiddenGpus) {
  for (const char* hide : {"1", "yes"}) {
    setenv("MANYMOD_HIDE_CUDA", hide, 1);
    const Hardware found = find_hardware(Listing::forkable);
    EXPECT_EQ(found.devices.size(), 1u);
    EXPECT_EQ(found.gpus.at(0).obstacle, "hidden by MANYMOD_HIDE_CUDA");
  }
  for (const char* show : {"", "0"}) {
    setenv("MANYMOD_HIDE_CUDA", show, 1);
    EXPECT_EQ(find_hardware(Listing::forkable).devices.size(), 2u);
  }
  unsetenv("MANYMOD_HIDE_CUDA");
}

TEST_F(CudaProbe, BuildWithoutDeviceCode) {
  auto sources = fake_sources();
  sources.images = {};
  Driver::use(sources);
  const Hardware found = find_hardware(Listing::forkable);
  EXPECT_EQ(found.devices.size(), 1u);
  EXPECT_FALSE(found.gpus.at(0).built);
  EXPECT_EQ(found.gpus.at(0).obstacle, "this build of manymod has no CUDA support");
}

TEST(CudaCapability, CodeThatAGpuRuns) {
  using Code = std::vector<cuda::CodeArchitecture>;
  const Code release{{80, 0, false}, {90, 'a', false}, {100, 0, true}, {120, 0, false}};
  const std::pair<unsigned, unsigned> of_release[] = {
      {75, 0}, {80, 80}, {89, 80}, {90, 90}, {100, 100}, {103, 100}, {110, 100}, {120, 120}, {121, 120}};
  for (const auto& [capability, code] : of_release) {
    EXPECT_EQ(cuda::code_capability(release, capability), code) << capability;
  }
  const Code compiled_by_drivers{{80, 0, true}};
  EXPECT_EQ(cuda::code_capability(compiled_by_drivers, 75), 0u);
  for (const unsigned capability : {80u, 89u, 90u, 120u}) {
    EXPECT_EQ(cuda::code_capability(compiled_by_drivers, capability), 80u);
  }
  // Machine code before PTX of a later version, which is for this capability or its family alone.
  EXPECT_EQ(cuda::code_capability(Code{{86, 0, false}, {80, 0, true}}, 89), 86u);
  EXPECT_EQ(cuda::code_capability(Code{{90, 'a', true}, {75, 0, true}}, 90), 90u);
  EXPECT_EQ(cuda::code_capability(Code{{90, 'a', true}, {75, 0, true}}, 100), 75u);
  EXPECT_EQ(cuda::code_capability(Code{{100, 'f', true}}, 103), 100u);
  EXPECT_EQ(cuda::code_capability(Code{{100, 'f', true}}, 120), 0u);
  EXPECT_EQ(cuda::code_capability(Code{}, 90), 0u);
}

TEST_F(CudaProbe, CodeOfTheBuildForEachGpu) {
  static constexpr cuda::CodeArchitecture kCode[] = {{80, 0, true}};
  auto sources = fake_sources();
  sources.architectures = kCode;
  Driver::use(sources);
  EXPECT_EQ(traits_of(find_hardware(Listing::forkable).devices[1]).code_capability(), 80u);
  Driver::use(fake_sources());
  EXPECT_EQ(traits_of(find_hardware(Listing::forkable).devices[1]).code_capability(), 90u);
}

TEST(CudaCapability, DoublesAtFullRate) {
  for (const unsigned capability : {60u, 70u, 80u, 90u, 100u})
    EXPECT_TRUE(gpu::full_rate_doubles(capability));
  for (const unsigned capability : {61u, 75u, 86u, 89u, 103u, 120u}) {
    EXPECT_FALSE(gpu::full_rate_doubles(capability));
  }
}

}  // namespace
}  // namespace manymod::testing
