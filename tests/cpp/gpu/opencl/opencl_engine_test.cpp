// SPDX-License-Identifier: Apache-2.0
// All operations on a real OpenCL driver against slow arithmetic. Skipped where there is no driver; PoCL,
// which computes on the CPU, is one. Few widths: PoCL compiles each kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpu/engine/engine_helpers.hpp"
#include "modmul/rns_float/bases.hpp"
#include "support/opencl_fixture.hpp"

namespace manymod::testing {
namespace {

class OpenclEngine : public OpenclTest {
 protected:
  void SetUp() override {
    OpenclTest::SetUp();
    setenv("MANYMOD_OPENCL_SECRET", "1", 1);
  }
  void TearDown() override {
    unsetenv("MANYMOD_OPENCL_SECRET");
    OpenclTest::TearDown();
  }
};

void check_on_opencl(Op op, const Operands& operands, Timing timing = Timing::public_,
                     const std::string& variant = "") {
  const Placement where{"opencl", variant, 0};
  Plan plan = plan_for(op, operands, timing, where);
  EXPECT_NE(plan.variant().find(".opencl"), std::string::npos) << plan.variant();
  expect_right(plan.run(operands), op, operands, text_of(op, operands, timing, where));
}

TEST_F(OpenclEngine, PowersInBothTimingClasses) {
  CudaNumbers numbers(1);
  for (const std::size_t width : {2u, 4u}) {
    const Batch n = numbers.odd_moduli(150, width), x = numbers.some(150, width), y = numbers.some(150, 1);
    check_on_opencl(Op::powmod, {x, y, n});
    check_on_opencl(Op::powmod, {x, y, n}, Timing::secret);
    check_on_opencl(Op::powmod, {x, numbers.some(1, 2), n});
    check_on_opencl(Op::powmod, {x, y, numbers.odd_moduli(1, width)}, Timing::secret);
  }
}

TEST_F(OpenclEngine, EdgesOfExponents) {
  CudaNumbers numbers(2);
  const Batch n = numbers.odd_moduli(5, 2), x = numbers.some(5, 2);
  for (const std::uint64_t exponent : {0ull, 1ull, 2ull, 65537ull}) {
    check_on_opencl(Op::powmod, {x, single(exponent), n});
    check_on_opencl(Op::powmod, {x, single(exponent), n}, Timing::secret);
  }
}

TEST_F(OpenclEngine, Products) {
  CudaNumbers numbers(3);
  const Batch n = numbers.odd_moduli(200, 3);
  constexpr const char* kProducts = "cios32.opencl.t1";
  check_on_opencl(Op::mulmod, {numbers.some(200, 3), numbers.some(200, 3), n}, Timing::public_, kProducts);
  check_on_opencl(Op::mulmod, {numbers.some(200, 7), numbers.some(1, 9), n}, Timing::public_, kProducts);
  check_on_opencl(Op::mulmod, {numbers.with_signs(numbers.some(200, 2)), numbers.some(200, 1), n});
  check_on_opencl(Op::sqrmod, {numbers.with_signs(numbers.some(200, 5)), View(), n});
}

TEST_F(OpenclEngine, DigitsOfAReducedRadix) {
  CudaNumbers numbers(5);
  struct Case {
    const char* variant;
    std::size_t width, items;
  };
  for (const auto& [variant, width, items] : {Case{"reduced_radix.opencl.t1", 4, 100}}) {
    const Batch n = numbers.odd_moduli(items, width), x = numbers.some(items, width);
    const Batch y = numbers.some(items, 1);
    check_on_opencl(Op::powmod, {x, y, n}, Timing::public_, variant);
    check_on_opencl(Op::powmod, {x, y, n}, Timing::secret, variant);
    check_on_opencl(Op::mulmod, {x, y, n}, Timing::public_, variant);
  }
}

// By one work-item in registers, with an operand in local memory, and by tiles; numbers at the edges of their
// ranges have digits of ones alone.
TEST_F(OpenclEngine, DigitsInDoubles) {
  CudaNumbers numbers(8);
  constexpr const char* kVariant = "dpf52.opencl.t1";
  struct Case {
    std::size_t width, items;
  };
  for (const auto& [width, items] : {Case{4, 100}, Case{16, 70}, Case{24, 40}}) {
    const Batch n = numbers.odd_moduli(items, width), x = numbers.some(items, width);
    const Batch y = numbers.some(items, 1);
    check_on_opencl(Op::powmod, {x, y, n}, Timing::public_, kVariant);
    check_on_opencl(Op::powmod, {x, y, n}, Timing::secret, kVariant);
    check_on_opencl(Op::mulmod, {x, numbers.some(items, width), n}, Timing::public_, kVariant);
    check_on_opencl(Op::sqrmod, {x, View(), n}, Timing::public_, kVariant);
  }
}

// Also with moduli that share a factor with a base, which others compute.
TEST_F(OpenclEngine, ResiduesInBinary32) {
  CudaNumbers numbers(7);
  constexpr const char* kVariant = "rns_float.half.opencl.t1";
  constexpr std::size_t kItems = 70, kWidth = 8;
  Batch n = numbers.odd_moduli(kItems, kWidth), one_n = numbers.odd_moduli(1, kWidth);
  for (const std::size_t refused : {std::size_t{3}, kItems - 1}) {
    std::fill(n[refused].begin(), n[refused].end(), 0);
    n[refused][0] = std::uint64_t{rns::Half512::kB[5]} * rns::Half512::kB[6];
  }
  const Batch x = numbers.some(kItems, kWidth), y = numbers.some(kItems, 1);
  check_on_opencl(Op::powmod, {x, y, n}, Timing::public_, kVariant);
  check_on_opencl(Op::powmod, {x, y, one_n}, Timing::secret, kVariant);
  check_on_opencl(Op::mulmod, {x, numbers.some(1, kWidth + 1), n}, Timing::public_, kVariant);
}

TEST_F(OpenclEngine, FixedBases) {
  CudaNumbers numbers(6);
  const Batch n = numbers.odd_moduli(1, 2), base = numbers.some(1, 2), y = numbers.some(150, 2);
  for (const Timing timing : {Timing::public_, Timing::secret}) {
    FixedBase fixed(base, n, 128, timing, {"opencl", "", 0});
    EXPECT_NE(fixed.variant().find(".opencl"), std::string::npos) << fixed.variant();
    expect_right(fixed.powmod(y), Op::powmod, {base, y, n}, "a fixed base");
  }
}

TEST_F(OpenclEngine, ProductsOfPowers) {
  CudaNumbers numbers(4);
  const Batch x = numbers.some(90, 2), y = numbers.some(90, 1), n = numbers.odd_moduli(30, 2);
  Operands operands{x, y, n};
  operands.count = 30;
  operands.terms = 3;
  check_on_opencl(Op::multi_powmod, operands);
}

}  // namespace
}  // namespace manymod::testing
