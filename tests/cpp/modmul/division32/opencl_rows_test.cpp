// SPDX-License-Identifier: Apache-2.0
// Element-wise operations on a real OpenCL driver against slow arithmetic. Skipped where there is no driver.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "gpu/engine/engine_helpers.hpp"
#include "support/opencl_fixture.hpp"

namespace manymod::testing {
namespace {

constexpr Op kRowOperations[] = {Op::addmod, Op::submod, Op::negmod, Op::mulmod, Op::sqrmod, Op::fmamod};
constexpr std::size_t kItems = 70;  // more than a work-group

class OpenclRows : public OpenclTest {
 protected:
  CudaNumbers numbers_{71};

  void SetUp() override {
    OpenclTest::SetUp();
    setenv("MANYMOD_OPENCL_SECRET", "1", 1);
  }
  void TearDown() override {
    unsetenv("MANYMOD_OPENCL_SECRET");
    OpenclTest::TearDown();
  }

  // Every third one is even.
  Batch moduli(std::size_t count, std::size_t width) {
    Batch all = numbers_.odd_moduli(count, width);
    for (std::size_t i = 0; i < count; i += 3) all[i][0] &= ~std::uint64_t{1};
    return all;
  }
};

Operands operands_of(Op op, const Batch& x, const Batch& y, const Batch& z, const Batch& n) {
  const bool has_y = op != Op::negmod && op != Op::sqrmod;
  Operands operands{x, has_y ? View(y) : View(), n};
  if (op == Op::fmamod) operands.z = z;
  return operands;
}

void expect_rows(Op op, const Operands& operands, Timing timing = Timing::public_) {
  const Placement where{"opencl", "", 0};
  Plan plan = plan_for(op, operands, timing, where);
  EXPECT_EQ(plan.variant(), "division32.opencl");
  expect_right(plan.run(operands), op, operands, text_of(op, operands, timing, where));
}

TEST_F(OpenclRows, OwnAndSharedModuli) {
  for (const std::size_t width : {2u, 3u, 7u}) {
    const Batch x = numbers_.some(kItems, width), y = numbers_.some(kItems, width),
                z = numbers_.some(kItems, width), own = moduli(kItems, width), even = moduli(1, width);
    for (const Op op : kRowOperations) {
      expect_rows(op, operands_of(op, x, y, z, own));
      expect_rows(op, operands_of(op, x, y, z, even));
    }
  }
}

TEST_F(OpenclRows, ConstantTime) {
  const Batch x = numbers_.some(kItems, 2), y = numbers_.some(kItems, 2), z = numbers_.some(kItems, 2);
  const Batch own = numbers_.odd_moduli(kItems, 2), shared = numbers_.odd_moduli(1, 2);
  for (const Op op : kRowOperations) {
    expect_rows(op, operands_of(op, x, y, z, own), Timing::secret);
    expect_rows(op, operands_of(op, x, y, z, shared), Timing::secret);
  }
}

TEST_F(OpenclRows, OperandsOfOtherWidths) {
  const Batch x = numbers_.some(kItems, 4), y = numbers_.some(1, 1), z = numbers_.some(kItems, 2);
  for (const std::size_t width : {1u, 3u}) {
    Batch n = moduli(kItems, width);
    n[5][width - 1] = width == 1 ? 2 : 0;  // another bucket than the others
    n[6][0] = 1;
    for (const Op op : kRowOperations) expect_rows(op, operands_of(op, x, y, z, numbers_.with_signs(n)));
  }
}

TEST_F(OpenclRows, OperandsWithSignsAreLeftToOthers) {
  const Batch x = numbers_.with_signs(numbers_.some(kItems, 2)), y = numbers_.some(kItems, 2),
              n = moduli(1, 2);
  expect_rows(Op::submod, operands_of(Op::submod, x, y, y, n));
}

}  // namespace
}  // namespace manymod::testing
