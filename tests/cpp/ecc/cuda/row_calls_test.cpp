// SPDX-License-Identifier: Apache-2.0
// Calls of the C interface whose items the substitute for the CUDA driver computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ecc/test_bytes.hpp"
#include "manymod/ecc.h"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::test {
namespace {

using manymod::testing::Bytes;
using manymod::testing::noise;

/// A whole call, on a curve that needs no tables: one item has no shared secret.
class CudaRowCalls : public manymod::testing::FakeGpuTest {
 protected:
  static constexpr std::size_t kItems = 5, kSize = 32, kWithout = 3;

  struct Result {
    mm_status status;
    Bytes output, statuses;
    std::vector<std::size_t> sizes;
    bool operator==(const Result&) const = default;
  };

  static mm_bytes_view view_of(const Bytes& rows) {
    return {kItems, rows.data(), kSize, 0, nullptr, nullptr};
  }

  static Result exchange_on(const char* device, const Bytes& secrets, const Bytes& points) {
    const mm_ecc_curve* const curve = mm_ecc_curve_find("X25519");
    mm_ecc_plan_options options{};
    options.struct_size = sizeof options;
    options.device = device;
    mm_ecc_plan* plan = nullptr;
    EXPECT_EQ(mm_ecc_plan_create(&curve, 1, &options, &plan), MM_OK);
    Result r{MM_OK, Bytes(kItems * kSize, 1), Bytes(kItems), std::vector<std::size_t>(kItems, 1)};
    mm_ecc_call call{};
    call.struct_size = sizeof call;
    call.op = MM_ECC_EXCHANGE;
    call.count = kItems;
    call.secret = view_of(secrets);
    call.point = view_of(points);
    call.output = {r.output.data(), kItems, kSize, r.sizes.data()};
    call.item_status = r.statuses.data();
    r.status = mm_ecc_run(plan, &call);
    mm_ecc_plan_destroy(plan);
    return r;
  }
};

TEST_F(CudaRowCalls, AreThoseOfTheProcessor) {
  const Bytes secrets = noise(kItems * kSize, 1);
  Bytes points = noise(kItems * kSize, 2);
  std::fill_n(points.begin() + kWithout * kSize, kSize, std::uint8_t{0});
  const Result on_gpu = exchange_on("cuda", secrets, points);
  EXPECT_GT(fake_cuda::counts().launches, 0U);
  EXPECT_EQ(on_gpu, exchange_on("cpu", secrets, points));
  EXPECT_EQ(on_gpu.status, MM_ERR_ITEMS);
  EXPECT_EQ(on_gpu.statuses[kWithout], MM_ITEM_ECC_SMALL_ORDER);
  EXPECT_EQ(on_gpu.sizes[kWithout], 0U);
}

}  // namespace
}  // namespace manymod::test
