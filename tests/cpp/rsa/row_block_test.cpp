// SPDX-License-Identifier: Apache-2.0
// Memory that one block of rows after the other uses.
#include "rsa/row_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/cuda/backend.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

using rsa::RowBlock;
using rsa::RowBlocks;
using rsa::RowLease;
using rsa::Rows;

class RsaRowBlocks : public FakeGpuTest {
 protected:
  static void make_rows(RowLease& lease, std::size_t count) {
    Rows& rows = lease->rows();
    rows.items.assign(count, 0);
    rows.limbs = 2;
    lease->make_room();
  }
  static bool all_zero(const Rows& rows) {
    const auto is_zero = [](Limb limb) { return limb == 0; };
    return std::ranges::all_of(rows.numbers, is_zero) && std::ranges::all_of(rows.powers, is_zero);
  }
  static void fill(Rows& rows) {
    std::ranges::fill(rows.numbers, Limb{1});
    std::ranges::fill(rows.powers, Limb{2});
  }

  /// Uses of one block: each finds zeros, whatever became of the one before.
  static void expect_zeros(gpu::Device* device) {
    RowBlocks blocks;
    const Limb* memory = nullptr;
    for (const bool wiped : {true, false, false, true}) {
      RowLease lease(blocks, device);
      for (const std::size_t count : {100U, 3U}) {
        make_rows(lease, count);
        Rows& rows = lease->rows();
        EXPECT_EQ(rows.numbers.size(), 2 * count);
        EXPECT_EQ(rows.powers.size(), 2 * count);
        EXPECT_TRUE(all_zero(rows));
        if (memory == nullptr) memory = rows.numbers.data();
        EXPECT_EQ(rows.numbers.data(), memory) << "it is kept";
        lease.set_clean(false);
        fill(rows);
        for (std::size_t row = 0; wiped && row < count; ++row) rows.wipe(row);
        if (!wiped) break;
        lease.set_clean(true);
      }
    }
  }
};

TEST_F(RsaRowBlocks, AreZeroBetweenUses) {
  expect_zeros(nullptr);
  EXPECT_EQ(fake_cuda::counts().host_allocations, 0U);
  expect_zeros(&cuda::backend().device(0));
}

TEST_F(RsaRowBlocks, UseOrdinaryMemoryWhereNoneCanBeLocked) {
  gpu::Device& device = cuda::backend().device(0);
  RowBlocks blocks;
  RowLease lease(blocks, &device);
  make_rows(lease, 4);
  EXPECT_EQ(fake_cuda::counts().host_allocations, 1U);
  fake_cuda::settings().host_memory_bytes = 0;
  for (const std::size_t count : {1000U, 4U}) {
    make_rows(lease, count);
    EXPECT_TRUE(all_zero(lease->rows()));
    EXPECT_EQ(fake_cuda::counts().host_allocations, 0U);
  }
}

// A second one is made while the first is in use.
TEST_F(RsaRowBlocks, AreLentToOneAtATime) {
  RowBlocks blocks;
  RowLease one(blocks, nullptr), another(blocks, nullptr);
  make_rows(one, 1);
  make_rows(another, 1);
  EXPECT_NE(one->rows().numbers.data(), another->rows().numbers.data());
}

}  // namespace
}  // namespace manymod::testing
