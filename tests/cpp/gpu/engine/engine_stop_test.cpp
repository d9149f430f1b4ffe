// SPDX-License-Identifier: Apache-2.0
// A stop request to an engine on a CUDA device.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "gpu/engine/engine.hpp"
#include "modmul/row32/variants.cuda.hpp"
#include "support/fake_cuda/fixture.hpp"
#include "support/naive.hpp"

namespace manymod::testing {
namespace {

using CudaEngineStop = FakeGpuTest;

// The stop is requested during the first chunk: that chunk is finished, and no other begins.
TEST_F(CudaEngineStop, BetweenChunks) {
  constexpr std::size_t kChunk = 128;
  fake_cuda::settings().memory_bytes = std::size_t{256} << 10;
  std::atomic<bool> stop = false;
  const fake_cuda::KernelFunction kernel = fake_cuda::kernel("row32_1x2");
  fake_cuda::add_kernel("row32_1x2", [&](const fake_cuda::Launch& launch, void** parameters) {
    kernel(launch, parameters);
    stop = true;
  });
  const std::size_t count = 1000;
  naive::Generator generate(3);
  naive::Limbs x, n;
  for (std::size_t i = 0; i < count; ++i) {
    x.push_back(generate.limb());
    n.push_back(generate.odd_modulus(1).front());
  }
  naive::Limbs results(count);
  std::vector<ItemStatus> statuses(count, ItemStatus::not_computed);
  std::vector<std::size_t> items(count);
  std::iota(items.begin(), items.end(), std::size_t{0});
  Job job;
  job.op = Operation::sqrmod;
  job.x = {x.data(), count, 1, 1};
  job.modulus = {n.data(), count, 1, 1};
  job.result = {results.data(), count, 1, 1};
  job.status = statuses.data();
  job.stop = StopToken(&stop);
  gpu::make_engine(row32::cuda_techniques()[0], 1, 0)->run(job, items, 1);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(statuses[i], i < kChunk ? ItemStatus::ok : ItemStatus::not_computed) << "item " << i;
    if (i < kChunk) {
      ASSERT_EQ(naive::Limbs{results[i]}, naive::multiply_mod({x[i]}, {x[i]}, {n[i]})) << "item " << i;
    }
  }
}

}  // namespace
}  // namespace manymod::testing
