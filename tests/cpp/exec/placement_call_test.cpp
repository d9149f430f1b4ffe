// SPDX-License-Identifier: Apache-2.0
// The chunks of a call on several GPUs: how many threads feed the GPUs, and how small batches are placed.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <thread>
#include <vector>

#include "placing.hpp"

namespace manymod::testing {
namespace {

class PlacingCall : public Placing {
 protected:
  static constexpr std::size_t kCount = 4000;

  PlacingCall() : moduli_(kCount, 5), results_(kCount), item_statuses_(kCount) {
    job_.op = Operation::mulmod;
    job_.modulus = {moduli_.data(), kCount, 1, 1, nullptr};
    job_.result = {results_.data(), kCount, 1, 1, nullptr};
    job_.status = item_statuses_.data();
  }

  bool execute_on(std::initializer_list<unsigned> sizes, double item_ns, std::size_t wave, unsigned threads) {
    use(sizes);
    for (GpuRecorder* gpu : gpus_) {
      gpu->on_run = on_chunk;
      gpu->cost_ns_per_limb = item_ns;
      gpu->granularity = wave;
    }
    return compute_batch({*engines_}, job_, bucket_each(job_, 64), threads, {});
  }

  [[nodiscard]] std::size_t computed() const {
    return static_cast<std::size_t>(std::count(item_statuses_.begin(), item_statuses_.end(), ItemStatus::ok));
  }

  std::function<void()> on_chunk;
  std::vector<Limb> moduli_, results_;
  std::vector<ItemStatus> item_statuses_;
  Job job_;
};

// Each thread waits in its first chunk for the others.
TEST_F(PlacingCall, ThreeThreadsFeedEach) {
  std::atomic<unsigned> began{0};
  on_chunk = [&began] {
    ++began;
    while (began < 12) std::this_thread::yield();
  };
  EXPECT_TRUE(execute_on({132, 132, 132, 132}, 1e6, 10, 1));
  EXPECT_EQ(computed(), kCount);
  for (const GpuRecorder* gpu : gpus_) EXPECT_GE(gpu->calls().size(), 3u);
  expect_idle();
}

TEST_F(PlacingCall, AWaveIsNotSplit) {
  EXPECT_TRUE(execute_on({132, 132}, 1e4, 5000, 0));
  EXPECT_EQ(gpus_[0]->calls().size() + gpus_[1]->calls().size(), 1u);
  EXPECT_EQ(computed(), kCount);
}

TEST_F(PlacingCall, ChunksAreWholeWaves) {
  EXPECT_TRUE(execute_on({132, 132}, 1e4, 300, 0));
  std::size_t parts = 0;
  for (const GpuRecorder* gpu : gpus_) {
    for (const auto& call : gpu->calls()) parts += call.items.size() % 300 != 0 ? 1 : 0;
  }
  EXPECT_EQ(parts, 1u);
  EXPECT_EQ(computed(), kCount);
}

TEST_F(PlacingCall, AFailingGpuCostsNoItem) {
  std::atomic<int> chunks{0};
  on_chunk = [&chunks] {
    if (++chunks == 3) throw cuda::DriverError(cuda::Fault::lost, 1, "lost in the middle");
  };
  EXPECT_TRUE(execute_on({132, 132}, 1e5, 100, 0));
  EXPECT_EQ(computed(), kCount);
  on_chunk = [] { throw cuda::DriverError(cuda::Fault::lost, 1, "lost"); };
  EXPECT_THROW(execute_on({132, 132}, 1e5, 100, 0), cuda::DriverError);
  expect_idle();
}

}  // namespace
}  // namespace manymod::testing
