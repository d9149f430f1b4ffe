// SPDX-License-Identifier: Apache-2.0
// Drivers that are absent, too old or broken, and processes in which CUDA cannot work.
#include "gpu/cuda/driver.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/cuda/device.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

using cuda::Driver;
using cuda::Fault;

class CudaDriver : public FakeCudaTest {};

TEST_F(CudaDriver, AllThreadsGetTheSameDevice) {
  std::vector<std::thread> threads;
  std::vector<cuda::Device*> devices(8);
  for (auto& device : devices) threads.emplace_back([&device] { device = &cuda::device(0); });
  for (std::thread& thread : threads) thread.join();
  for (const cuda::Device* device : devices) EXPECT_EQ(device, devices.front());
  EXPECT_EQ(fake_cuda::counts().contexts, 1u);
  EXPECT_EQ(fake_cuda::counts().initialisations, 1u);
}

TEST_F(CudaDriver, Absent) {
  auto sources = fake_sources();
  sources.driver = "libmanymod-no-such-driver.so.1";
  Driver::use(sources);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto error = driver_error([] { cuda::device(0); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->fault(), Fault::no_driver);
    EXPECT_EQ(error->status(), MM_ERR_UNKNOWN_DEVICE);
    EXPECT_NE(std::string(error->what()).find("libmanymod-no-such-driver"), std::string::npos);
  }
}

TEST_F(CudaDriver, TooOld) {
  fake_cuda::settings().version = 11080;
  const auto error = driver_error([] { cuda::device(0); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), Fault::driver_too_old);
  EXPECT_STREQ(error->what(), "the NVIDIA driver is too old: it serves CUDA 11.8, manymod needs CUDA 12.0");
  EXPECT_EQ(Driver::current().version(), 11080);
  EXPECT_EQ(fake_cuda::counts().initialisations, 0u);
}

TEST_F(CudaDriver, OldestThatServes) {
  fake_cuda::settings().version = cuda::kOldestDriver;
  EXPECT_EQ(fault_in([] { cuda::device(0); }), std::nullopt);
}

TEST_F(CudaDriver, OfAnEarlierMajorVersionThanTheCompilers) {
  EXPECT_EQ(cuda::oldest_driver(0), cuda::kOldestDriver);
  EXPECT_EQ(cuda::oldest_driver(12080), 12000) << "later compilers of the same major version";
  auto sources = fake_sources();
  sources.compiler = 13020;
  Driver::use(sources);
  fake_cuda::settings().version = 12090;
  const auto error = driver_error([] { cuda::device(0); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), Fault::driver_too_old);
  EXPECT_STREQ(error->what(), "the NVIDIA driver is too old: it serves CUDA 12.9, manymod needs CUDA 13.0");
  EXPECT_EQ(fake_cuda::counts().initialisations, 0u);

  Driver::use(sources);
  fake_cuda::settings().version = 13000;
  EXPECT_EQ(fault_in([] { cuda::device(0); }), std::nullopt);
}

TEST_F(CudaDriver, MissingFunction) {
  auto sources = fake_sources();
  sources.hidden_functions = {"cuMemAlloc_v2", "cuLaunchKernel"};
  Driver::use(sources);
  const auto error = driver_error([] { cuda::device(0); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), Fault::driver_too_old);
  EXPECT_STREQ(error->what(), "the NVIDIA driver lacks cuLaunchKernel cuMemAlloc_v2");
}

TEST_F(CudaDriver, MissingVersionFunction) {
  auto sources = fake_sources();
  sources.hidden_functions = {"cuDriverGetVersion"};
  Driver::use(sources);
  EXPECT_EQ(fault_in([] { cuda::device(0); }), Fault::driver_too_old);
}

TEST_F(CudaDriver, DoesNotStart) {
  fake_cuda::settings().init_result = 100;
  EXPECT_EQ(fault_in([] { cuda::device(0); }), Fault::no_device);
  Driver::use(fake_sources());
  fake_cuda::settings().init_result = 803;
  const auto error = driver_error([] { cuda::device(0); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), Fault::no_driver);
  EXPECT_STREQ(error->what(), "cuInit failed: CUDA error 803");
  EXPECT_EQ(fault_in([] { cuda::device(0); }), Fault::no_driver) << "remembered";
  EXPECT_EQ(fake_cuda::counts().initialisations, 2u);
}

TEST_F(CudaDriver, NoSuchDevice) {
  fake_cuda::settings().devices = 2;
  EXPECT_EQ(cuda::device(1).index(), 1u);
  for (const unsigned index : {2u, 1000u, 0xffffffffu}) {
    EXPECT_EQ(fault_in([&] { cuda::device(index); }), Fault::no_device) << index;
  }
}

TEST_F(CudaDriver, AFailedContextIsRetried) {
  fake_cuda::settings().retain_result = 2;
  EXPECT_EQ(fault_in([] { cuda::device(0); }), Fault::out_of_memory);
  fake_cuda::settings().retain_result = 0;
  EXPECT_EQ(fault_in([] { cuda::device(0); }), std::nullopt);
  EXPECT_EQ(fake_cuda::counts().contexts, 1u);
}

TEST_F(CudaDriver, FaultsOfResults) {
  EXPECT_EQ(cuda::fault_of(2), Fault::out_of_memory);
  EXPECT_EQ(cuda::fault_of(222), Fault::driver_too_old);
  for (const int lost : {214, 700, 702, 710, 715, 716, 719, 999})
    EXPECT_EQ(cuda::fault_of(lost), Fault::lost);
  for (const int other : {1, 701, 12345, -1}) EXPECT_EQ(cuda::fault_of(other), Fault::other);
}

TEST_F(CudaDriver, ForkBeforeUseLeavesTheDriverUsableInBothProcesses) {
  Driver::current().version();
  EXPECT_TRUE(true_in_child([] { return cuda::device(0).index() == 0 && fake_cuda::counts().misuses == 0; }));
  EXPECT_EQ(cuda::device(0).index(), 0u);
}

TEST_F(CudaDriver, ForkAfterUseNeverCallsTheDriver) {
  cuda::Device& device = cuda::device(0);
  EXPECT_TRUE(true_in_child([&] {
    const std::size_t calls = fake_cuda::counts().calls;
    const auto again = driver_error([] { cuda::device(0); });
    const auto used = driver_error([&] { gpu::DeviceBuffer(device, 8); });
    return again && again->fault() == Fault::forked && again->status() == MM_ERR_DEVICE && used &&
           used->fault() == Fault::forked && Driver::current().forked() &&
           Driver::current().version() == 13000 && fake_cuda::counts().misuses == 0 &&
           fake_cuda::counts().calls == calls;
  }));
  EXPECT_TRUE(true_in_child([] {
    return true_in_child([] { return fault_in([] { cuda::device(0); }) == Fault::forked; });
  })) << "a grandchild";
  EXPECT_EQ(gpu::DeviceBuffer(device, 8).bytes(), 8u);
}

TEST_F(CudaDriver, ForkWhileAnotherThreadHoldsTheDriver) {
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) Driver::current().version();
  });
  bool ok = true;
  for (int i = 0; i < 20; ++i) ok = ok && true_in_child([] { return Driver::current().version() == 13000; });
  stop = true;
  busy.join();
  EXPECT_TRUE(ok);
}

// Another library initialised CUDA in the parent, which only the driver knows.
TEST_F(CudaDriver, ForkAfterAnotherUserOfCuda) {
  fake_cuda::settings().init_result = 3;
  const auto error = driver_error([] { cuda::device(0); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), Fault::forked);
  EXPECT_NE(std::string(error->what()).find("before this process was forked off"), std::string::npos);
}

}  // namespace
}  // namespace manymod::testing
