// SPDX-License-Identifier: Apache-2.0
// The memory of chunks, on the substitute for the CUDA driver.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "ecc/device/row_queue.hpp"
#include "gpu/cuda/device.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::test {
namespace {

using CudaChunks = manymod::testing::FakeGpuTest;

TEST_F(CudaChunks, EndWithTheirMemory) {
  constexpr std::size_t kBytes = 4000, kTooMany = std::size_t{1} << 20;
  ecc::device::Chunk chunk(cuda::Driver::current().device(0));
  chunk.begin(0, 1, {kBytes, kBytes});
  const std::vector<std::uint8_t> bytes(kTooMany);
  chunk.upload(ByteRows{bytes.data(), 0, kBytes});
  EXPECT_THROW(chunk.upload(ByteRows{bytes.data(), 0, kTooMany}), std::logic_error);
  EXPECT_THROW(chunk.words(kTooMany), std::logic_error);
  chunk.stream().synchronize();
}

TEST_F(CudaChunks, HaveRoomForAPrefix) {
  ecc::RowCall call;
  call.operation = ecc::RowOperation::sign;
  call.scheme = MM_ECC_SM2DSA;
  call.prefix.size = ecc::RowCall::kMostPrefix;
  const ecc::device::ItemBytes bytes =
      ecc::device::RowQueue::bytes(ecc::named_curve(ecc::CurveId::sm2), call);
  EXPECT_EQ(bytes.chunk_device, ecc::RowCall::kMostPrefix);
  EXPECT_EQ(bytes.chunk_pinned, ecc::RowCall::kMostPrefix);
}

}  // namespace
}  // namespace manymod::test
