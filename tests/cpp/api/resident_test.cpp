// SPDX-License-Identifier: Apache-2.0
// Calls on arrays in device memory, on the fake driver: their results equal those for host arrays.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "gpu/engine/engine_helpers.hpp"
#include "resident_helpers.hpp"

namespace manymod::testing {
namespace {

class Resident : public FakeGpuTest {
 protected:
  CudaNumbers numbers_{41};

  // A call with bases wider than the moduli, exponents of one limb, and `moduli` moduli (`count` or 1).
  CallOperands random_operands(mm_op op, mm_timing timing, std::size_t count, std::size_t width,
                               std::size_t moduli) {
    CallOperands operands;
    operands.op = op;
    operands.timing = timing;
    operands.count = count;
    operands.terms = op == MM_OP_MULTI_POWMOD ? 2 : 0;
    const std::size_t numbers = count * std::max<std::size_t>(1, operands.terms);
    operands.x = numbers_.some(numbers, width + 1);
    operands.y = numbers_.some(numbers, 1);
    operands.modulus = numbers_.odd_moduli(moduli, width);
    return operands;
  }

  static FixedBasePointer fixed_base(const Batch& g, const Batch& n, mm_timing timing, const char* device) {
    mm_fixed_base_options options{};
    options.struct_size = sizeof options;
    options.timing = timing;
    options.exponent_bits = 128;
    options.device = device;
    mm_fixed_base* made = nullptr;
    const mm_view base = View(g).get(), modulus = View(n).get();
    EXPECT_EQ(mm_fixed_base_create(&options, &base, &modulus, &made), MM_OK) << mm_last_error();
    return FixedBasePointer(made);
  }

  // Moduli of all lengths up to the width of the array, including even ones, zeros and ones.
  Batch mixed_moduli(std::size_t count, std::size_t width) {
    Batch moduli = numbers_.some(count, width);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t limbs = 1 + numbers_.below(width);
      std::fill(moduli[i].begin() + static_cast<std::ptrdiff_t>(limbs), moduli[i].end(), 0);
      if (i % 11 == 3) std::fill(moduli[i].begin(), moduli[i].end(), 0);
      if (i % 11 == 7) {
        std::fill(moduli[i].begin(), moduli[i].end(), 0);
        moduli[i][0] = 1;
      }
      if (i % 3 == 0) moduli[i][0] |= 1;
    }
    return moduli;
  }
};

TEST_F(Resident, AllOperationsInBothTimingClasses) {
  for (const mm_op op : kPlanOperations) {
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      if (!offered(op, timing)) continue;
      for (const std::size_t width : {1u, 3u}) {
        for (const std::size_t moduli : {std::size_t{11}, std::size_t{1}}) {
          const CallOperands operands = random_operands(op, timing, 11, width, moduli);
          expect_same_as_host(operands, {}, "together");
          expect_same_as_host(operands, {.gap = 2}, "apart");
          expect_same_as_host(operands, {.gap = 1, .result_width = width + 2}, "wide results");
        }
      }
    }
  }
}

TEST_F(Resident, EachSetOfArraysOnTheDevice) {
  for (const mm_op op : {MM_OP_SUBMOD, MM_OP_MULMOD, MM_OP_POWMOD, MM_OP_MULTI_POWMOD}) {
    for (unsigned set = 0; set <= kAllOnDevice; ++set) {
      CallOperands operands = random_operands(op, MM_TIMING_PUBLIC, 7, 2, 7);
      if ((set & MM_ON_DEVICE_X) == 0) operands.x = numbers_.with_signs(operands.x);
      if ((set & MM_ON_DEVICE_Y) == 0 && op != MM_OP_MULTI_POWMOD) {
        operands.y = numbers_.with_signs(operands.y);
      }
      if ((set & (MM_ON_DEVICE_MODULUS | MM_ON_DEVICE_RESULT)) == 0) {
        operands.modulus = numbers_.with_signs(operands.modulus);
      }
      expect_same_as_host(operands, {.on_device = set}, "set");
    }
  }
}

TEST_F(Resident, MixedModuli) {
  for (const mm_op op : kPlanOperations) {
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      if (!offered(op, timing)) continue;
      CallOperands operands = random_operands(op, timing, 90, 4, 90);
      operands.modulus = mixed_moduli(90, 4);
      operands.modulus_bits = 230;  // some are too wide
      expect_same_as_host(operands, {}, "mixed");
      expect_same_as_host(operands, {.on_device = kAllOnDevice & ~unsigned{MM_ON_DEVICE_RESULT}},
                          "results here");
      expect_same_as_host(operands, {.on_device = kAllOnDevice & ~unsigned{MM_ON_DEVICE_MODULUS}, .gap = 1},
                          "moduli here");
    }
  }
}

TEST_F(Resident, SharedModuliOfEachClass) {
  for (const std::uint64_t modulus : {0u, 1u, 6u, 1u << 20}) {
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      CallOperands operands = random_operands(MM_OP_POWMOD, timing, 5, 1, 1);
      operands.modulus = single(modulus);
      operands.modulus_bits = 16;
      expect_same_as_host(operands, {}, "modulus " + std::to_string(modulus));
    }
  }
}

TEST_F(Resident, IntegersThatAllItemsShare) {
  for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
    for (const std::size_t moduli : {std::size_t{9}, std::size_t{1}}) {
      CallOperands operands = random_operands(MM_OP_POWMOD, timing, 9, 2, moduli);
      operands.y = single(65537);
      expect_same_as_host(operands, {.gap = 1}, "one exponent");
      operands.x = numbers_.some(1, 2);
      expect_same_as_host(operands, {}, "one power");
      operands.y = numbers_.some(9, 1);
      expect_same_as_host(operands, {}, "one base");
    }
  }
  CallOperands operands = random_operands(MM_OP_MULTI_POWMOD, MM_TIMING_PUBLIC, 6, 2, 6);
  operands.x = numbers_.some(2, 2);
  expect_same_as_host(operands, {.gap = 1}, "bases of all products");
  expect_same_as_host(random_operands(MM_OP_MULTI_POWMOD, MM_TIMING_PUBLIC, 1, 2, 1), {}, "one product");
  for (const mm_op op : kPlanOperations) {
    expect_same_as_host(random_operands(op, MM_TIMING_PUBLIC, 1, 2, 1), {}, "one item");
  }
}

TEST_F(Resident, ExponentsOfUnlikeLengths) {
  CallOperands operands = random_operands(MM_OP_POWMOD, MM_TIMING_PUBLIC, 60, 2, 60);
  operands.y = numbers_.some(60, 5);
  for (std::size_t i = 0; i < 60; ++i) {
    std::fill(operands.y[i].begin() + static_cast<std::ptrdiff_t>(i % 6), operands.y[i].end(), 0);
  }
  expect_same_as_host(operands, {}, "exponents of 0 to 5 limbs");
  operands.timing = MM_TIMING_SECRET;
  expect_same_as_host(operands, {}, "exponents of 0 to 5 limbs");
}

// The data copied to the host about exponents of similar lengths does not grow with their number.
TEST_F(Resident, ExponentsOfSimilarLengths) {
  const std::size_t count = 4000;
  CallOperands operands = random_operands(MM_OP_POWMOD, MM_TIMING_PUBLIC, count, 1, count);
  for (std::size_t i = 0; i < count; ++i) operands.y[i][0] |= std::uint64_t{1} << 60;
  operands.y[count - 1][0] = ~std::uint64_t{0};
  operands.y[count / 2][0] = 0;
  const std::size_t before = fake_cuda::counts().to_host_bytes;
  expect_same_as_host(operands, {.on_device = kAllOnDevice & ~unsigned{MM_ON_DEVICE_RESULT}}, "alike");
  const std::size_t results = count * sizeof(std::uint64_t);
  EXPECT_LT(fake_cuda::counts().to_host_bytes - before, results + 3 * count);
  operands = random_operands(MM_OP_MULTI_POWMOD, MM_TIMING_PUBLIC, 300, 1, 1);
  expect_same_as_host(operands, {}, "products of powers, one modulus");
}

TEST_F(Resident, VariantsByName) {
  for (const char* variant : {"row32.cuda.t1", "dpf52.cuda.t1", "row32.cuda.t4", "scalar64.generic"}) {
    const CallOperands operands = random_operands(MM_OP_POWMOD, MM_TIMING_PUBLIC, 12, 3, 12);
    expect_same_as_host(operands, {.device = "auto", .variant = variant}, variant);
  }
}

// More items than 128 GPU threads compute at once, in chunks for several threads of the library.
TEST_F(Resident, SeveralChunks) {
  const std::size_t count = 2500;
  CallOperands operands = random_operands(MM_OP_MULMOD, MM_TIMING_PUBLIC, count, 2, count);
  expect_same_as_host(operands, {}, "products");
  operands.modulus = mixed_moduli(count, 2);
  expect_same_as_host(operands, {.gap = 1}, "products of mixed lengths");
  CallOperands powers = random_operands(MM_OP_POWMOD, MM_TIMING_SECRET, 700, 1, 700);
  powers.y = numbers_.some(700, 3);
  expect_same_as_host(powers, {}, "powers");
}

// A batch that must be split because device memory is short.
TEST_F(Resident, LittleMemory) {
  const CallOperands operands = random_operands(MM_OP_MULMOD, MM_TIMING_PUBLIC, 2500, 2, 2500);
  fake_cuda::settings().memory_bytes = std::size_t{256} << 10;
  expect_same_as_host(operands, {}, "products");
}

TEST_F(Resident, ResultsInThePlaceOfAnOperand) {
  for (const mm_op op : {MM_OP_ADDMOD, MM_OP_MULMOD, MM_OP_POWMOD}) {
    for (const unsigned which : {MM_ON_DEVICE_X, MM_ON_DEVICE_Y, MM_ON_DEVICE_MODULUS}) {
      for (const std::size_t gap : {0u, 3u}) {
        CallOperands operands = random_operands(op, MM_TIMING_PUBLIC, 300, 2, 300);
        operands.x = numbers_.some(300, 2);
        operands.y = numbers_.some(300, 2);
        if (gap != 0) operands.modulus = mixed_moduli(300, 2);
        const CallResults expected = host_results(operands);
        const PlanPointer plan = make_plan(operands.options("auto"));
        DeviceBatch x(operands.x, gap), y(operands.y, gap), modulus(operands.modulus, gap);
        DeviceBatch& taken = which == MM_ON_DEVICE_X ? x : which == MM_ON_DEVICE_Y ? y : modulus;
        mm_call call = make_call(x.view(), y.view(), modulus.view(), taken.result());
        call.on_device = kAllOnDevice;
        CallResults actual = run_call(operands, plan.get(), call, 2);
        actual.results = taken.read();
        expect_same(actual, expected, "in the place of " + std::to_string(which));
      }
    }
  }
}

// Operands and results as column blocks of one table.
TEST_F(Resident, ColumnsOfOneTable) {
  const std::size_t count = 40;
  CallOperands operands = random_operands(MM_OP_MULMOD, MM_TIMING_PUBLIC, count, 2, count);
  operands.x = numbers_.some(count, 2);
  operands.y = numbers_.some(count, 2);
  Batch table(count, 8);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy(operands.x[i].begin(), operands.x[i].end(), table[i].begin());
    std::copy(operands.y[i].begin(), operands.y[i].end(), table[i].begin() + 2);
    std::copy(operands.modulus[i].begin(), operands.modulus[i].end(), table[i].begin() + 4);
  }
  DeviceBatch there(table, 0);
  const auto column = [&](std::size_t first) { return mm_view{there.limbs() + first, count, 2, 8, nullptr}; };
  const PlanPointer plan = make_plan(operands.options("auto"));
  mm_call call = make_call(column(0), column(2), column(4), {there.limbs() + 6, count, 2, 8, nullptr});
  call.on_device = kAllOnDevice;
  CallResults actual = run_call(operands, plan.get(), call, 2);
  const Batch after = there.read();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < 6; ++j) ASSERT_EQ(after[i][j], table[i][j]) << "item " << i;
    std::copy(after[i].begin() + 6, after[i].end(), actual.results[i].begin());
  }
  expect_same(actual, host_results(operands), "columns");
}

// Only one fact about all moduli is copied to the host, and only step programs to the device.
TEST_F(Resident, OperandsStayOnTheDevice) {
  const std::size_t count = 4000;
  const CallOperands operands = random_operands(MM_OP_MULMOD, MM_TIMING_PUBLIC, count, 4, count);
  const PlanPointer plan = make_plan(operands.options("auto"));
  const DeviceBatch x(operands.x, 0), y(operands.y, 0), modulus(operands.modulus, 0),
      result(operands.modulus, 0);
  mm_call call = make_call(x.view(), y.view(), modulus.view(), result.result());
  call.on_device = kAllOnDevice;
  const fake_cuda::Counts before = fake_cuda::counts();
  EXPECT_EQ(run_call(operands, plan.get(), call, 4).status, MM_OK);
  EXPECT_LE(fake_cuda::counts().to_host_bytes - before.to_host_bytes, 8u);
  EXPECT_LT(fake_cuda::counts().to_device_bytes - before.to_device_bytes, count * sizeof(std::uint64_t));
}

TEST_F(Resident, OtherDevicesThanThePlans) {
  fake_cuda::settings().devices = 3;
  for (const char* device : {"auto", "cpu", "cuda", "cuda:0", "cuda:2"}) {
    for (const unsigned index : {0u, 1u, 2u}) {
      const CallOperands operands = random_operands(MM_OP_POWMOD, MM_TIMING_PUBLIC, 20, 2, 20);
      expect_same_as_host(operands, {.device = device, .device_index = index},
                          std::string(device) + " with arrays on " + std::to_string(index));
    }
  }
}

TEST_F(Resident, OnePlanOnSeveralDevices) {
  fake_cuda::settings().devices = 2;
  const CallOperands operands = random_operands(MM_OP_POWMOD, MM_TIMING_SECRET, 20, 2, 1);
  const CallResults expected = host_results(operands);
  const PlanPointer plan = make_plan(operands.options("auto"));
  for (const unsigned index : {1u, 0u, 1u, 0u}) {
    const DeviceBatch x(operands.x, 0, index), y(operands.y, 0, index), modulus(operands.modulus, 0, index);
    DeviceBatch result(Batch(20, 2), 0, index);
    mm_call call = make_call(x.view(), y.view(), modulus.view(), result.result());
    call.on_device = kAllOnDevice;
    call.device_index = index;
    CallResults actual = run_call(operands, plan.get(), call, 2);
    actual.results = result.read();
    expect_same(actual, expected, "device " + std::to_string(index));
  }
}

TEST_F(Resident, OnePlanInSeveralThreads) {
  const CallOperands operands = random_operands(MM_OP_POWMOD, MM_TIMING_SECRET, 40, 2, 40);
  const CallResults expected = host_results(operands);
  const PlanPointer plan = make_plan(operands.options("auto"));
  const DeviceBatch x(operands.x, 0), y(operands.y, 0), modulus(operands.modulus, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        DeviceBatch result(Batch(40, 2), i % 2 == 0 ? 0 : 1);
        mm_call call = make_call(x.view(), y.view(), modulus.view(), result.result());
        call.on_device = kAllOnDevice;
        CallResults actual = run_call(operands, plan.get(), call, 2);
        actual.results = result.read();
        expect_same(actual, expected, "in a thread");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Resident, FixedBases) {
  const Batch even = single(1u << 20, 2), one = single(1, 2), odd = numbers_.odd_moduli(1, 2);
  const Batch g = numbers_.with_signs(numbers_.some(1, 3)), y = numbers_.some(50, 2);
  for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
    for (const Batch* const n : {&even, &one, &odd}) {
      if (timing == MM_TIMING_SECRET && n == &even) continue;
      const FixedBasePointer on_cpu = fixed_base(g, *n, timing, "cpu"),
                             beside = fixed_base(g, *n, timing, "auto");
      Batch expected(50, 2);
      const mm_result here{expected.limbs().data(), 50, 2, 2, expected.signs().data()};
      mm_call call = make_call({}, View(y).get(), {}, here);
      EXPECT_EQ(mm_fixed_base_powmod(on_cpu.get(), &call), MM_OK) << mm_last_error();
      const DeviceBatch there(y, 1);
      DeviceBatch result(Batch(50, 3), 1);
      call = make_call({}, there.view(), {}, result.result());
      call.on_device = kAllOnDevice;
      EXPECT_EQ(mm_fixed_base_powmod(beside.get(), &call), MM_OK) << mm_last_error();
      const Batch results = result.read();
      for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_EQ(results[i][0], expected[i][0]) << "item " << i;
        EXPECT_EQ(results[i][1], expected[i][1]) << "item " << i;
        EXPECT_EQ(results[i][2], 0u) << "item " << i;
      }
    }
  }
}

}  // namespace
}  // namespace manymod::testing
