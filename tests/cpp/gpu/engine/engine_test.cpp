// SPDX-License-Identifier: Apache-2.0
// Whole calls on CUDA devices, through the public interface, on the fake driver: every operation that the
// engine takes, against slow arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gpu/engine/engine_helpers.hpp"

namespace manymod::testing {
namespace {

class CudaEngine : public FakeGpuTest {
 protected:
  CudaNumbers numbers_{20};
};

constexpr std::uint64_t kFermat = 65537;

TEST_F(CudaEngine, PowersInBothTimingClasses) {
  for (const char* variant : {"row32.cuda.t1", "dpf52.cuda.t1"}) {
    for (const std::size_t width : {1u, 2u, 3u, 4u, 8u, 16u}) {
      const Batch n = numbers_.odd_moduli(4, width), x = numbers_.some(4, width);
      const Batch y = numbers_.some(4, width <= 4 ? 2 : 1);
      for (const Timing timing : {Timing::public_, Timing::secret}) {
        check_plan(Op::powmod, {x, y, n}, timing, {"cuda:0", variant, 0});
      }
    }
  }
}

TEST_F(CudaEngine, GroupsOfThreads) {
  for (const char* variant : {"row32.cuda.t4", "dpf52.cuda.t4"}) {
    for (const std::size_t width : {7u, 16u}) {
      const Batch n = numbers_.odd_moduli(9, width), x = numbers_.with_signs(numbers_.some(9, width + 1));
      check_plan(Op::powmod, {x, single(17), n}, Timing::public_, {"cuda:0", variant, 0});
      check_plan(Op::powmod, {x, single(5), n}, Timing::secret, {"cuda:0", variant, 0});
      check_plan(Op::mulmod, {x, x, n}, Timing::public_, {"cuda:0", variant, 0});
    }
  }
}

TEST_F(CudaEngine, ExponentsThatAllItemsShare) {
  const Batch n = numbers_.odd_moduli(7, 4), one_n = numbers_.odd_moduli(1, 4);
  const Batch x = numbers_.some(7, 4), one_x = numbers_.some(1, 4), y = numbers_.some(7, 1);
  for (const std::uint64_t exponent : {std::uint64_t{0}, std::uint64_t{1}, kFermat, ~std::uint64_t{0}}) {
    const Batch e = single(exponent);
    for (const Timing timing : {Timing::public_, Timing::secret}) {
      check_plan(Op::powmod, {x, e, n}, timing, {"cuda", "", 0});
      check_plan(Op::powmod, {x, e, one_n}, timing, {"cuda", "", 0});
    }
  }
  for (const Timing timing : {Timing::public_, Timing::secret}) {
    check_plan(Op::powmod, {one_x, y, n}, timing, {"cuda", "", 0});
    check_plan(Op::powmod, {one_x, y, one_n}, timing, {"cuda", "", 0});
  }
}

TEST_F(CudaEngine, Products) {
  for (const char* variant : {"row32.cuda.t1", "dpf52.cuda.t1"}) {
    for (const std::size_t width : {1u, 5u, 16u}) {
      const Batch n = numbers_.with_signs(numbers_.odd_moduli(40, width)),
                  one_n = numbers_.odd_moduli(1, width);
      const Batch x = numbers_.with_signs(numbers_.some(40, width)), one_x = numbers_.some(1, width);
      for (const Batch& modulus : {n, one_n}) {
        check_plan(Op::mulmod, {x, numbers_.some(40, width), modulus}, Timing::public_,
                   {"cuda:0", variant, 0});
        check_plan(Op::mulmod, {x, one_x, modulus}, Timing::public_, {"cuda:0", variant, 0});
        check_plan(Op::sqrmod, {x, {}, modulus}, Timing::public_, {"cuda:0", variant, 0});
      }
    }
  }
}

TEST_F(CudaEngine, WideAndNegativeOperands) {
  for (const std::size_t width : {1u, 3u}) {
    const Batch n = numbers_.with_signs(numbers_.odd_moduli(30, width));
    const Batch wide = numbers_.with_signs(numbers_.some(30, 2 * width + 3));
    const Batch narrow = numbers_.with_signs(numbers_.some(30, 1));
    for (const Timing timing : {Timing::public_, Timing::secret}) {
      check_plan(Op::powmod, {wide, numbers_.some(30, 1), n}, timing, {"cuda", "", 0});
      check_plan(Op::powmod, {narrow, numbers_.some(30, 1), n}, timing, {"cuda", "", 0});
    }
    check_plan(Op::mulmod, {wide, narrow, n}, Timing::public_, {"cuda", "", 0});
    check_plan(Op::sqrmod, {wide, {}, n}, Timing::public_, {"cuda", "", 0});
  }
}

// 128 items are worked on at a time, and their operands would take 4 MiB together.
TEST_F(CudaEngine, LittleMemoryIsPageLocked) {
  fake_cuda::settings().memory_bytes = std::size_t{64} << 20;
  const Batch n = numbers_.odd_moduli(130, 2), x = numbers_.some(130, 4096);
  check_plan(Op::sqrmod, {x, {}, n}, Timing::public_, {"cuda:0", "row32.cuda.t1", 0});
  EXPECT_LE(fake_cuda::counts().largest_host_allocation, std::size_t{1} << 20);
}

TEST_F(CudaEngine, ProductsOfPowers) {
  for (const std::size_t terms : {1u, 2u, 5u}) {
    const std::size_t count = 6;
    const Batch n = numbers_.odd_moduli(count, 2), one_n = numbers_.odd_moduli(1, 2);
    const Batch x = numbers_.with_signs(numbers_.some(count * terms, 3)), y = numbers_.some(count * terms, 1);
    const Batch shared_x = numbers_.some(terms, 2), shared_y = numbers_.some(terms, 1);
    for (const Batch& modulus : {n, one_n}) {
      check_plan(Op::multi_powmod, {x, y, modulus, count, terms}, Timing::public_, {"cuda", "", 0});
      check_plan(Op::multi_powmod, {shared_x, y, modulus, count, terms}, Timing::public_, {"cuda", "", 0});
      check_plan(Op::multi_powmod, {x, shared_y, modulus, count, terms}, Timing::public_, {"cuda", "", 0});
    }
  }
}

TEST_F(CudaEngine, FixedBases) {
  const Batch g = numbers_.with_signs(numbers_.some(1, 3)), n = numbers_.odd_moduli(1, 2);
  const Batch y = numbers_.some(12, 2);
  for (const Timing timing : {Timing::public_, Timing::secret}) {
    // Variable-time exponents longer than the comb are computed by windows instead.
    for (const std::size_t bits : {std::size_t{128}, std::size_t{70}}) {
      if (timing == Timing::secret && bits < 128) continue;
      FixedBase powers(g, n, bits, timing, {"cuda", "", 0});
      const std::size_t launches = fake_cuda::counts().launches;
      expect_right(powers.powmod(y), Op::powmod, {g, y, n},
                   "fixed base of " + std::to_string(bits) + " bits");
      EXPECT_GT(fake_cuda::counts().launches, launches);
    }
  }
}

// 128 threads at a time, and memory for few items in flight.
TEST_F(CudaEngine, SeveralChunksOfSeveralRounds) {
  fake_cuda::settings().memory_bytes = std::size_t{1} << 20;
  const std::size_t count = 1111;
  const Batch n = numbers_.odd_moduli(count, 1), x = numbers_.some(count, 2), y = numbers_.some(count, 1);
  check_plan(Op::mulmod, {x, y, n}, Timing::public_, {"cuda:0", "row32.cuda.t1", 0});
  EXPECT_GE(fake_cuda::counts().launches, 3 * 4u);
  check_plan(Op::powmod, {x, single(kFermat), n}, Timing::public_, {"cuda:0", "row32.cuda.t1", 0});
}

TEST_F(CudaEngine, EvenModuliAndOtherItemsGoToTheProcessor) {
  const std::size_t count = 60;
  Batch n = numbers_.with_signs(numbers_.some(count, 3));
  const Batch x = numbers_.with_signs(numbers_.some(count, 3));
  const Batch y = numbers_.some(count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    n[i][0] ^= i % 3;
    if (i % 4 == 0) std::fill(n[i].begin() + 1, n[i].end(), 0);
    if (i % 10 == 0) std::fill(n[i].begin(), n[i].end(), 0);
  }
  const Operands operands{x, y, n};
  Plan plan = plan_for(Op::powmod, operands, Timing::public_, {"cuda", "", 0});
  std::vector<mm_status> statuses;
  const Batch results = plan.run(operands, &statuses);
  for (std::size_t i = 0; i < count; ++i) {
    const bool zero = std::all_of(n[i].begin(), n[i].end(), [](std::uint64_t limb) { return limb == 0; });
    ASSERT_EQ(statuses[i], zero ? MM_ITEM_ZERO_MODULUS : MM_OK) << "item " << i;
    if (zero) continue;
    ASSERT_EQ(integer_of(results, i), expected_item(Op::powmod, operands, i)) << "item " << i;
  }
  EXPECT_GT(fake_cuda::counts().launches, 0u);
}

TEST_F(CudaEngine, InversesOfNegativeExponents) {
  const Batch n = single(101), x = numbers_.some(8, 1);
  Batch y = single(1);
  y.set_negative(0, true);
  Plan plan(Op::powmod, 64, ModulusKind::shared, Timing::public_, {"cuda", "", 0});
  std::vector<mm_status> statuses;
  const Batch inverses = plan.run({x, y, n}, &statuses);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool invertible = x[i][0] % 101 != 0;
    EXPECT_EQ(statuses[i], invertible ? MM_OK : MM_ITEM_NOT_INVERTIBLE);
    if (!invertible) continue;
    EXPECT_EQ(naive::multiply_mod({inverses[i][0]}, {x[i][0]}, {101}), naive::Limbs{1});
  }
}

TEST_F(CudaEngine, AutoTakesTheGpuForLargeBatches) {
  const std::size_t count = 5000;
  const Batch n = numbers_.odd_moduli(count, 4), x = numbers_.some(count, 4);
  check_plan(Op::powmod, {x, single(3), n}, Timing::public_, {"auto", "", 0});
  Plan plan(Op::powmod, 256, ModulusKind::each, Timing::public_);
  EXPECT_NE(plan.variant_for(count).find(".cuda."), std::string::npos);
  EXPECT_EQ(plan.variant_for(1).find(".cuda."), std::string::npos);
}

TEST_F(CudaEngine, OnePlanInSeveralThreads) {
  const Batch n = numbers_.odd_moduli(40, 2), x = numbers_.some(40, 2), y = numbers_.some(40, 1);
  const Operands operands{x, y, n};
  Plan plan = plan_for(Op::powmod, operands, Timing::secret, {"cuda", "", 0});
  const Batch right = plan.run(operands);
  expect_right(right, Op::powmod, operands, "the first call");
  std::vector<std::thread> threads;
  std::atomic<int> same = 0;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const Batch results = plan.run(operands);
        same += std::equal(results.limbs().begin(), results.limbs().end(), right.limbs().begin()) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, 30);
}

// Copies of a constant-time call's numbers are zeroed when it returns; those of a variable-time call may
// remain.
TEST_F(CudaEngine, SecretsAreWipedAtTheEndOfEachCall) {
  const Batch n = numbers_.odd_moduli(5, 2), x = single(0x123456789abcdef1u, 2),
              y = single(0xfedcba9876543211u);
  for (const Timing timing : {Timing::secret, Timing::public_}) {
    Plan plan(Op::powmod, 128, ModulusKind::each, timing, {"cuda", "", 0});
    const Batch results = plan.run({x, y, n});
    const auto remains = [](const Batch& batch, std::size_t limbs) {
      return fake_cuda::holds(batch.limbs().data(), limbs * sizeof(std::uint64_t));
    };
    EXPECT_EQ(remains(y, 1), timing == Timing::public_);
    EXPECT_EQ(remains(x, 2), timing == Timing::public_);
    EXPECT_EQ(remains(results, 10), timing == Timing::public_);
  }
}

TEST_F(CudaEngine, SecretsOfFixedBases) {
  const Batch n = numbers_.odd_moduli(1, 2), g = numbers_.some(1, 2), y = single(0xfedcba9876543211u);
  FixedBase powers(g, n, 64, Timing::secret, {"cuda", "", 0});
  const Batch results = powers.powmod(y);
  expect_right(results, Op::powmod, {g, y, n}, "fixed base");
  EXPECT_FALSE(fake_cuda::holds(y.limbs().data(), 8));
  EXPECT_FALSE(fake_cuda::holds(results.limbs().data(), 16));
}

}  // namespace
}  // namespace manymod::testing
