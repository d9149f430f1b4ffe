// SPDX-License-Identifier: Apache-2.0
// Streams on an OpenCL driver whose fills are wrong in large memories. Skipped where there is no driver.
#include "gpu/opencl/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/opencl/driver.hpp"
#include "gpu/opencl/fill.hpp"
#include "support/opencl_faults.hpp"
#include "support/opencl_fixture.hpp"

namespace manymod::testing {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20;
constexpr unsigned char kBefore = 0x5a;

// clEnqueueFillBuffer of a driver that numbers patterns from the beginning of the memory on by 13 bits, as
// NVIDIA's does by 31.
opencl::Status number_few_patterns(opencl::QueueHandle queue, opencl::MemoryHandle memory,
                                   const void* pattern, std::size_t pattern_bytes, std::size_t offset,
                                   std::size_t bytes, std::uint32_t count, const opencl::EventHandle* events,
                                   opencl::EventHandle* event) {
  constexpr std::size_t kNumbers = kBytes / opencl::kPatternBytes;
  const std::size_t wrong = offset / pattern_bytes % kNumbers * pattern_bytes;
  if (bytes / pattern_bytes > kNumbers) return opencl::kInvalidQueue;
  return own<decltype(&number_few_patterns)>("clEnqueueFillBuffer")(queue, memory, pattern, pattern_bytes,
                                                                    wrong, bytes, count, events, event);
}

class OpenclStream : public OpenclTest {
 protected:
  void SetUp() override {
    OpenclTest::SetUp();
    if (IsSkipped()) return;
    opencl::DriverSources sources;
    sources.replaced_functions = {{"clEnqueueFillBuffer", address(number_few_patterns)}};
    opencl::Driver::use(sources);
  }
};

TEST_F(OpenclStream, SetsTheBytesOfARangeAndNoOthers) {
  opencl::Device& device = opencl::Driver::current().device(0);
  const gpu::DeviceBuffer memory(device, kBytes);
  const opencl::Stream stream(device);
  std::vector<unsigned char> expected(kBytes, kBefore), found(kBytes);
  stream.set_bytes(memory.data(), kBefore, kBytes);
  // Lengths around one pattern and two, at offsets around their ends, up to the end of the memory.
  constexpr std::size_t kOffsets[] = {0, 1, 127, 128, 129, 65536, 65537, 524288, 1048319, 1048320};
  constexpr std::size_t kLengths[] = {1, 4, 127, 128, 129, 255, 256};
  unsigned char value = 0;
  for (const std::size_t offset : kOffsets) {
    for (const std::size_t bytes : kLengths) {
      if (offset + bytes > kBytes) continue;
      value = static_cast<unsigned char>(value + 37);
      stream.set_bytes(memory.as<unsigned char>() + offset, value, bytes);
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), bytes, value);
    }
  }
  stream.copy_to_host(found.data(), memory.data(), kBytes);
  stream.synchronize();
  EXPECT_EQ(found, expected);
}

TEST(OpenclFill, RangesConsistOfWholePatternsButForTheirEnds) {
  for (std::size_t begin = 0; begin < 3 * opencl::kPatternBytes; ++begin) {
    for (std::size_t bytes = 0; bytes < 3 * opencl::kPatternBytes; ++bytes) {
      const opencl::FillRanges ranges = opencl::fill_ranges(begin, bytes);
      const std::array bounds = {ranges.begin, ranges.first, ranges.last, ranges.end};
      ASSERT_TRUE(std::ranges::is_sorted(bounds));
      ASSERT_EQ(ranges.begin, begin);
      ASSERT_EQ(ranges.end, begin + bytes);
      ASSERT_LT(ranges.first - ranges.begin, opencl::kPatternBytes);
      ASSERT_LT(ranges.end - ranges.last, opencl::kPatternBytes);
      ASSERT_EQ((ranges.last - ranges.first) % opencl::kPatternBytes, 0U);
      ASSERT_TRUE(ranges.first == ranges.last || ranges.first % opencl::kPatternBytes == 0);
    }
  }
}

}  // namespace
}  // namespace manymod::testing
