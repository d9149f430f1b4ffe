// SPDX-License-Identifier: Apache-2.0
// Kernels of the fake driver get the same arguments and thread numbers as kernels on a device.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/cuda/device.hpp"
#include "support/address_sanitizer.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

struct Squares {
  std::uint64_t* results = nullptr;
  std::uint32_t count = 0;
};

void square(const Squares& job, std::uint32_t item) { job.results[item] = std::uint64_t{item} * item; }

// Uses the second of a thread's two words of shared memory.
void square_there(const Squares& job, std::uint32_t item, LaneMemory memory) {
  memory[1] = item;
  job.results[item] = std::uint64_t{memory[1]} * memory[1];
}

void number(const Squares& job, const fake_cuda::Thread& thread) {
  job.results[thread.index] = (std::uint64_t{thread.count} << 32) | thread.index;
}

class FakeKernels : public FakeCudaTest {
 protected:
  static void launch(const char* kernel, const fake_cuda::Launch& shape, const Squares& job) {
    void* parameters[] = {const_cast<Squares*>(&job)};
    fake_cuda::kernel(kernel)(shape, parameters);
  }
};

TEST_F(FakeKernels, ItemsBeyondTheCountAreNotComputed) {
  fake_cuda::add_item_kernel("square", &square);
  fake_cuda::add_item_kernel("square_there", &square_there);
  for (const char* kernel : {"square", "square_there"}) {
    std::vector<std::uint64_t> results(7, 99);
    launch(kernel, {2, 4, 2 * 4 * sizeof(std::uint32_t)}, {results.data(), 6});
    EXPECT_EQ(results, (std::vector<std::uint64_t>{0, 1, 4, 9, 16, 25, 99})) << kernel;
  }
}

TEST_F(FakeKernels, ThreadsKnowTheirNumbers) {
  fake_cuda::add_thread_kernel("number", &number);
  std::vector<std::uint64_t> results(6);
  launch("number", {3, 2, 0}, {results.data(), 0});
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(results[i], (std::uint64_t{6} << 32) | i);
}

#if defined(MM_ADDRESS_SANITIZER)
TEST_F(FakeKernels, LittleSharedMemoryIsFound) {
  fake_cuda::add_item_kernel("square_there", &square_there);
  std::vector<std::uint64_t> results(8);
  const fake_cuda::Launch one_word_each{2, 4, 4 * sizeof(std::uint32_t)};
  EXPECT_DEATH(launch("square_there", one_word_each, {results.data(), 8}), "AddressSanitizer");
}

TEST_F(FakeKernels, WritesBesideDeviceMemoryAreFound) {
  fake_cuda::add_item_kernel("square", &square);
  const gpu::DeviceBuffer results(cuda::device(0), 8 * sizeof(std::uint64_t));
  EXPECT_DEATH(launch("square", {1, 32, 0}, {results.as<std::uint64_t>(), 9}), "AddressSanitizer");
}
#endif

}  // namespace
}  // namespace manymod::testing
