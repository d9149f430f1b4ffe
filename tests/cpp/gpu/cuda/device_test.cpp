// SPDX-License-Identifier: Apache-2.0
// Kernels, streams and memory on a device, and the state after one of them fails.
#include "gpu/cuda/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/cuda/stream.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

using cuda::Device;
using cuda::Driver;
using cuda::Event;
using cuda::Fault;
using cuda::Kernel;
using cuda::Stream;
using gpu::DeviceBuffer;
using gpu::PinnedBuffer;

struct Doubling {
  std::uint32_t* words = nullptr;
  std::uint32_t count = 0;
};

void double_words(const fake_cuda::Launch& launch, void** parameters) {
  const auto* job = static_cast<const Doubling*>(parameters[0]);
  const std::uint32_t threads = launch.grid * launch.block;
  for (std::uint32_t i = 0; i < std::min(job->count, threads); ++i) job->words[i] *= 2;
}

class CudaDevice : public FakeCudaTest {
 protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    fake_cuda::add_kernel("row32_double", &double_words);
    fake_cuda::add_kernel("nothing", nullptr);
  }
};

// Count up on the host, double on the device, and back.
std::vector<std::uint32_t> doubled(Device& device, std::uint32_t count) {
  const std::size_t bytes = count * sizeof(std::uint32_t);
  const Stream stream(device);
  const DeviceBuffer words(device, bytes);
  const PinnedBuffer staging(device, bytes);
  const Event done(device);
  std::iota(staging.as<std::uint32_t>(), staging.as<std::uint32_t>() + count, 0u);
  stream.copy_to_device(words.data(), staging.data(), bytes);
  device.kernel("row32_double")
      .launch(stream, {(count + 127) / 128, 128, 64}, Doubling{words.as<std::uint32_t>(), count});
  stream.copy_to_host(staging.data(), words.data(), bytes);
  done.record(stream);
  done.wait();
  return {staging.as<std::uint32_t>(), staging.as<std::uint32_t>() + count};
}

bool is_doubled(const std::vector<std::uint32_t>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != 2 * i) return false;
  }
  return true;
}

TEST_F(CudaDevice, CopiesAndLaunches) {
  EXPECT_TRUE(is_doubled(doubled(cuda::device(0), 1000)));
  EXPECT_EQ(fake_cuda::counts().allocations, 0u);
  EXPECT_EQ(fake_cuda::counts().host_allocations, 0u);
}

TEST_F(CudaDevice, OlderDriversLoadModules) {
  auto sources = fake_sources();
  sources.hidden_functions = {"cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction"};
  Driver::use(sources);
  EXPECT_TRUE(is_doubled(doubled(cuda::device(0), 77)));
  EXPECT_EQ(fault_in([] { cuda::device(0).kernel("row32_none"); }), Fault::no_device_code);
}

TEST_F(CudaDevice, FromManyThreads) {
  Device& device = cuda::device(0);
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (int& outcome : right) {
    threads.emplace_back([&outcome, &device] {
      for (int i = 0; i < 20; ++i) outcome += is_doubled(doubled(device, 100)) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, (std::vector<int>{20, 20, 20, 20}));
}

TEST_F(CudaDevice, Properties) {
  fake_cuda::settings().devices = 2;
  Device& device = cuda::device(1);
  EXPECT_EQ(device.properties().model, "Fake GPU");
  EXPECT_EQ(device.compute_capability(), 90u);
  EXPECT_EQ(device.properties().multiprocessors, 132u);
  EXPECT_EQ(device.properties().shared_per_block, std::size_t{227} << 10);
  EXPECT_EQ(device.properties().memory_bytes, std::uint64_t{1} << 30);
}

TEST_F(CudaDevice, KernelsAreLoadedOnceFromTheBestMatchingImage) {
  Device& device = cuda::device(0);
  const Kernel& kernel = device.kernel("row32_double");
  EXPECT_EQ(&device.kernel("row32_double"), &kernel);
  EXPECT_EQ(fake_cuda::counts().images, 1u);
  EXPECT_EQ(kernel.registers(), 64u);
  EXPECT_EQ(kernel.name(), "row32_double");
  EXPECT_EQ(kernel.blocks_per_multiprocessor(256, 0), 8u);
  EXPECT_EQ(kernel.blocks_per_multiprocessor(256, std::size_t{100} << 10), 2u);
}

TEST_F(CudaDevice, MissingKernel) {
  const auto error = driver_error([] { cuda::device(0).kernel("row32_none"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), Fault::no_device_code);
  EXPECT_EQ(error->status(), MM_ERR_DEVICE);
  EXPECT_STREQ(error->what(), "cuda:0: this build of manymod has no kernel row32_none");
  EXPECT_EQ(fake_cuda::counts().images, kFakeImages.size()) << "all images are searched";
  EXPECT_FALSE(cuda::device(0).lost());
}

TEST_F(CudaDevice, BuildWithoutDeviceCode) {
  auto sources = fake_sources();
  sources.images = {};
  Driver::use(sources);
  const auto error = driver_error([] { cuda::device(0).kernel("row32_double"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "cuda:0: this build of manymod has no device code");
}

TEST_F(CudaDevice, ImageThatTheDriverCannotLoad) {
  fake_cuda::settings().load_result = 209;
  EXPECT_EQ(fault_in([] { cuda::device(0).kernel("row32_double"); }), Fault::no_device_code);
  fake_cuda::settings().load_result = 222;
  EXPECT_EQ(fault_in([] { cuda::device(0).kernel("row32_double"); }), Fault::driver_too_old);
  fake_cuda::settings().load_result = 2;
  EXPECT_EQ(fault_in([] { cuda::device(0).kernel("row32_double"); }), Fault::out_of_memory);
  fake_cuda::settings().load_result = 0;
  EXPECT_TRUE(is_doubled(doubled(cuda::device(0), 5))) << "tried again";
}

TEST_F(CudaDevice, OutOfMemoryAtEachAllocation) {
  Device& device = cuda::device(0);
  for (std::size_t failing = 0; failing < 3; ++failing) {
    fake_cuda::settings().failing_allocation = failing;
    EXPECT_EQ(fault_in([&] { doubled(device, 10); }) == Fault::out_of_memory, true) << failing;
    EXPECT_EQ(fake_cuda::counts().allocations, 0u);
    EXPECT_FALSE(device.lost());
  }
  fake_cuda::settings().failing_host_allocation = 0;
  EXPECT_EQ(fault_in([&] { doubled(device, 10); }), Fault::out_of_memory);
  EXPECT_TRUE(is_doubled(doubled(device, 10)));
}

TEST_F(CudaDevice, MoreThanTheDeviceHas) {
  Device& device = cuda::device(0);
  const auto error = driver_error([&] { DeviceBuffer(device, (std::size_t{1} << 30) + 1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), Fault::out_of_memory);
  EXPECT_EQ(error->status(), MM_ERR_MEMORY);
  EXPECT_STREQ(error->what(), "cuda:0: cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(fault_in([&] { DeviceBuffer(device, SIZE_MAX); }), Fault::out_of_memory);
}

TEST_F(CudaDevice, NoBytes) {
  Device& device = cuda::device(0);
  const Stream stream(device);
  const DeviceBuffer none(device, 0);
  const PinnedBuffer none_pinned(device, 0);
  const DeviceBuffer empty;
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none_pinned.data(), nullptr);
  stream.copy_to_device(none.data(), none_pinned.data(), 0);
  stream.copy_to_host(none_pinned.data(), none.data(), 0);
  stream.copy_on_device(none.data(), empty.data(), 0);
  stream.set_bytes(none.data(), 1, 0);
}

TEST_F(CudaDevice, BuffersMove) {
  Device& device = cuda::device(0);
  DeviceBuffer a(device, 64);
  void* const data = a.data();
  DeviceBuffer b(std::move(a));
  EXPECT_EQ(b.data(), data);
  b = DeviceBuffer(device, 128);
  EXPECT_EQ(b.bytes(), 128u);
  EXPECT_EQ(fake_cuda::counts().allocations, 1u);
  PinnedBuffer pinned;
  pinned = PinnedBuffer(device, 32);
  EXPECT_EQ(pinned.bytes(), 32u);
  Stream stream(device);
  stream = Stream(device);
  Event event(device);
  event = Event(device);
  EXPECT_EQ(fake_cuda::counts().streams, 1u);
  EXPECT_EQ(fake_cuda::counts().events, 1u);
}

TEST_F(CudaDevice, EventsAndStreams) {
  Device& device = cuda::device(0);
  const Stream first(device);
  const Stream second(device);
  const Event start(device, Event::Timing::on);
  const Event end(device, Event::Timing::on);
  start.record(first);
  end.record(second);
  first.synchronize();
  second.synchronize();
  EXPECT_DOUBLE_EQ(end.seconds_since(start), 0.0025);
}

TEST_F(CudaDevice, CopiesOnTheDevice) {
  Device& device = cuda::device(0);
  const Stream stream(device);
  const DeviceBuffer from(device, 16);
  const DeviceBuffer to(device, 16);
  stream.set_bytes(from.data(), 7, 16);
  stream.copy_on_device(to.data(), from.data(), 16);
  std::vector<unsigned char> bytes(16);
  stream.copy_to_host(bytes.data(), to.data(), 16);
  stream.synchronize();
  EXPECT_EQ(bytes, std::vector<unsigned char>(16, 7));
}

TEST_F(CudaDevice, OwnersOfMemory) {
  fake_cuda::settings().devices = 2;
  const DeviceBuffer buffer(cuda::device(1), 16);
  const int host = 0;
  EXPECT_EQ(cuda::device(0).owner_of(buffer.data()), 1u);
  EXPECT_EQ(cuda::device(0).owner_of(&host), std::nullopt);
}

TEST_F(CudaDevice, LaunchThatIsRefused) {
  Device& device = cuda::device(0);
  fake_cuda::settings().failing_launch = 0;
  const auto error = driver_error([&] { doubled(device, 10); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), Fault::other);
  EXPECT_STREQ(error->what(), "cuda:0: cuLaunchKernel failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  EXPECT_EQ(error->call(), "cuLaunchKernel");
  EXPECT_STREQ(error->backend(), "cuda");
  EXPECT_EQ(error->device(), 0);
  EXPECT_FALSE(device.lost());
  EXPECT_TRUE(is_doubled(doubled(device, 10)));
}

TEST_F(CudaDevice, TooMuchSharedMemoryIsRefusedBeforeTheDriverSeesIt) {
  Device& device = cuda::device(0);
  const Stream stream(device);
  const Kernel& kernel = device.kernel("nothing");
  for (const std::size_t bytes : {std::size_t{228} << 10, std::size_t{1} << 32, SIZE_MAX}) {
    EXPECT_EQ(fault_in([&] { kernel.launch(stream, {1, 32, bytes}, Doubling{}); }), Fault::other);
  }
  EXPECT_EQ(fake_cuda::counts().launches, 0u);
}

TEST_F(CudaDevice, KernelFaultLosesTheDevice) {
  Device& device = cuda::device(0);
  fake_cuda::settings().faulting_launch = 1;
  EXPECT_TRUE(is_doubled(doubled(device, 10)));
  EXPECT_EQ(fault_in([&] { doubled(device, 10); }), Fault::lost);
  EXPECT_TRUE(device.lost());
  const std::size_t calls = fake_cuda::counts().calls;
  const auto error = driver_error([&] { DeviceBuffer(device, 8); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fault(), Fault::lost);
  EXPECT_STREQ(
      error->what(),
      "cuda:0: lost by an earlier failure: cuMemcpyDtoHAsync_v2 returned CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(fault_in([&] { device.kernel("nothing"); }), Fault::lost);
  EXPECT_EQ(fault_in([&] { PinnedBuffer(device, 8); }), Fault::lost);
  EXPECT_EQ(fake_cuda::counts().calls, calls) << "the driver is not asked again";
}

// Of several threads whose calls fail, the first decides what later errors say, both call and result.
TEST_F(CudaDevice, TheFirstFailureIsTold) {
  Device& device = cuda::device(0);
  EXPECT_EQ(fault_in([&] { device.check("cuStreamSynchronize", 700); }), Fault::lost);
  EXPECT_EQ(fault_in([&] { device.check("cuLaunchKernel", 719); }), Fault::lost);
  const auto error = driver_error([&] { DeviceBuffer(device, 8); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "cuda:0: lost by an earlier failure: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS");
}

// The device is lost at each call of the driver: an error, no crash, and never a wrong result.
TEST_F(CudaDevice, LostAtAnyCall) {
  std::size_t calls = 0;
  {
    EXPECT_TRUE(is_doubled(doubled(cuda::device(0), 10)));
    calls = fake_cuda::counts().calls;
  }
  ASSERT_GT(calls, 20u);
  std::size_t failed = 0;
  for (std::size_t at = 0; at < calls; ++at) {
    fake_cuda::reset();
    fake_cuda::add_kernel("row32_double", &double_words);
    Driver::use(fake_sources());
    fake_cuda::settings().lost_at_call = at;
    std::vector<std::uint32_t> words;
    const auto fault = fault_in([&] { words = doubled(cuda::device(0), 10); });
    EXPECT_TRUE(fault == Fault::lost || is_doubled(words)) << at;
    EXPECT_EQ(fault == Fault::lost, words.empty()) << at;
    EXPECT_EQ(fake_cuda::counts().context_depth, 0u) << at;
    failed += fault == Fault::lost ? 1 : 0;
  }
  EXPECT_GT(failed, calls / 2);
  EXPECT_LT(failed, calls) << "destructors drop failures";
}

TEST_F(CudaDevice, ForkedChildrenReleaseNothing) {
  Device& device = cuda::device(0);
  const DeviceBuffer kept(device, 64);
  EXPECT_TRUE(true_in_child([&] {
    const std::size_t calls = fake_cuda::counts().calls;
    {
      DeviceBuffer buffer;
      buffer = std::move(const_cast<DeviceBuffer&>(kept));
    }
    return fault_in([&] { Stream stream(device); }) == Fault::forked &&
           fault_in([&] { device.kernel("row32_double"); }) == Fault::forked &&
           fault_in([&] { device.check_usable(); }) == Fault::forked && fake_cuda::counts().misuses == 0 &&
           fake_cuda::counts().calls == calls;
  }));
  EXPECT_TRUE(is_doubled(doubled(device, 10)));
}

}  // namespace
}  // namespace manymod::testing
