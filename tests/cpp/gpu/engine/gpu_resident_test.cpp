// SPDX-License-Identifier: Apache-2.0
// Calls on arrays in a GPU's memory against the same calls on host arrays. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/resident_helpers.hpp"
#include "engine_helpers.hpp"
#include "gpu/buffer.hpp"
#include "gpu/cuda/stream.hpp"

namespace manymod::testing {
namespace {

class GpuResident : public ::testing::Test {
 protected:
  void SetUp() override {
    variants_ = cuda_variants();
    if (variants_.empty()) GTEST_SKIP() << "no GPU that a variant can run on";
  }

  std::vector<mm_variant_info> variants_;
  CudaNumbers numbers_{47};

  CallOperands random_operands(mm_op op, mm_timing timing, std::size_t count, std::size_t width,
                               std::size_t moduli) {
    CallOperands operands;
    operands.op = op;
    operands.timing = timing;
    operands.count = count;
    operands.terms = op == MM_OP_MULTI_POWMOD ? 3 : 0;
    const std::size_t numbers = count * std::max<std::size_t>(1, operands.terms);
    operands.x = numbers_.some(numbers, width + 1);
    operands.y = numbers_.some(numbers, 2);
    operands.modulus = numbers_.odd_moduli(moduli, width);
    return operands;
  }

  Batch mixed_moduli(std::size_t count, std::size_t width) {
    Batch moduli = numbers_.some(count, width);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t limbs = i % 13 == 5 ? 0 : 1 + numbers_.below(width);
      std::fill(moduli[i].begin() + static_cast<std::ptrdiff_t>(limbs), moduli[i].end(), 0);
      if (limbs > 0) moduli[i][0] |= i % 2;
    }
    return moduli;
  }
};

TEST_F(GpuResident, AllOperationsInBothTimingClasses) {
  for (const mm_op op : kPlanOperations) {
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      if (!offered(op, timing)) continue;
      for (const std::size_t width : {1u, 2u, 5u, 16u, 33u}) {
        for (const std::size_t moduli : {std::size_t{150}, std::size_t{1}}) {
          const CallOperands operands = random_operands(op, timing, 150, width, moduli);
          expect_same_as_host(operands, {}, "together");
          expect_same_as_host(operands, {.gap = 3, .result_width = width + 1}, "apart");
        }
      }
    }
  }
}

TEST_F(GpuResident, MixedModuli) {
  for (const mm_op op : kPlanOperations) {
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      if (!offered(op, timing)) continue;
      CallOperands operands = random_operands(op, timing, 2000, 8, 2000);
      operands.modulus = mixed_moduli(2000, 8);
      operands.modulus_bits = 500;
      expect_same_as_host(operands, {}, "mixed");
      expect_same_as_host(operands, {.on_device = kAllOnDevice & ~unsigned{MM_ON_DEVICE_RESULT}, .gap = 1},
                          "results here");
      expect_same_as_host(operands, {.on_device = kAllOnDevice & ~unsigned{MM_ON_DEVICE_MODULUS}},
                          "moduli here");
    }
  }
}

TEST_F(GpuResident, EachSetOfArraysOnTheDevice) {
  for (unsigned set = 0; set <= kAllOnDevice; ++set) {
    CallOperands operands = random_operands(MM_OP_POWMOD, MM_TIMING_PUBLIC, 500, 4, 500);
    if ((set & MM_ON_DEVICE_X) == 0) operands.x = numbers_.with_signs(operands.x);
    if ((set & MM_ON_DEVICE_Y) == 0) operands.y = numbers_.with_signs(operands.y);
    expect_same_as_host(operands, {.on_device = set}, "set");
  }
}

TEST_F(GpuResident, EveryVariant) {
  for (const mm_variant_info& variant : variants_) {
    const std::size_t width = std::min<std::size_t>(6, variant.max_bits / 64);
    for (const mm_op op : {MM_OP_POWMOD, MM_OP_MULMOD}) {
      if (!offers(variant, op, MM_TIMING_PUBLIC)) continue;
      expect_same_as_host(random_operands(op, MM_TIMING_PUBLIC, 100, width, 100),
                          {.gap = 1, .variant = variant.name}, variant.name);
      expect_same_as_host(random_operands(op, MM_TIMING_PUBLIC, 100, width, 100), {.variant = variant.name},
                          variant.name);
    }
  }
}

TEST_F(GpuResident, ResultsInThePlaceOfAnOperand) {
  for (const mm_op op : {MM_OP_ADDMOD, MM_OP_MULMOD, MM_OP_POWMOD}) {
    for (const unsigned which : {MM_ON_DEVICE_X, MM_ON_DEVICE_Y, MM_ON_DEVICE_MODULUS}) {
      for (const std::size_t gap : {0u, 3u}) {
        CallOperands operands = random_operands(op, MM_TIMING_PUBLIC, 20'000, 2, 20'000);
        operands.x = numbers_.some(20'000, 2);
        if (gap != 0) operands.modulus = mixed_moduli(20'000, 2);
        const PlanPointer plan = make_plan(operands.options("auto"));
        DeviceBatch x(operands.x, gap), y(operands.y, gap), modulus(operands.modulus, gap);
        DeviceBatch& taken = which == MM_ON_DEVICE_X ? x : which == MM_ON_DEVICE_Y ? y : modulus;
        mm_call call = make_call(x.view(), y.view(), modulus.view(), taken.result());
        call.on_device = kAllOnDevice;
        CallResults actual = run_call(operands, plan.get(), call, 2);
        actual.results = taken.read();
        expect_same(actual, host_results(operands), "in the place of " + std::to_string(which));
      }
    }
  }
}

TEST_F(GpuResident, SeveralChunks) {
  const std::size_t count = 3'000'000;
  CallOperands operands = random_operands(MM_OP_MULMOD, MM_TIMING_PUBLIC, count, 2, count);
  expect_same_as_host(operands, {}, "products");
  operands.modulus = mixed_moduli(count, 2);
  expect_same_as_host(operands, {.gap = 1}, "mixed products");
}

// The operand is written by the last of many operations on the caller's stream, for which the call must wait.
TEST_F(GpuResident, WaitsForTheCallersStream) {
  const std::size_t count = 1000;
  CallOperands operands = random_operands(MM_OP_MULMOD, MM_TIMING_PUBLIC, count, 2, count);
  operands.x = numbers_.some(count, 2);
  const CallResults expected = host_results(operands);
  cuda::Device& gpu = cuda::device(0);
  const cuda::Stream own(gpu), legacy = cuda::Stream::borrowed(gpu, nullptr);
  const gpu::DeviceBuffer large(gpu, std::size_t{1} << 30);
  const PlanPointer plan = make_plan(operands.options("auto"));
  const DeviceBatch x(operands.x, 0), y(operands.y, 0), modulus(operands.modulus, 0),
      nothing(Batch(count, 2), 0);
  for (const cuda::Stream* const stream : {&own, &legacy}) {
    DeviceBatch late(Batch(count, 2), 0), result(Batch(count, 2), 0);
    mm_call call = make_call(late.view(), y.view(), modulus.view(), result.result());
    call.on_device = kAllOnDevice;
    call.stream = stream->handle();
    EXPECT_EQ(run_call(operands, plan.get(), call, 2).status, MM_OK);  // all is loaded from now on
    for (int i = 0; i < 200; ++i) {
      stream->set_bytes(large.data(), static_cast<unsigned char>(i), large.bytes());
    }
    stream->copy_on_device(late.limbs(), x.limbs(), count * 2 * sizeof(std::uint64_t));
    CallResults actual = run_call(operands, plan.get(), call, 2);
    actual.results = result.read();
    expect_same(actual, expected, stream == &own ? "own stream" : "legacy default stream");
  }
}

TEST_F(GpuResident, FixedBases) {
  const Batch n = numbers_.odd_moduli(1, 16), g = numbers_.some(1, 16), y = numbers_.some(5000, 4);
  for (const Timing timing : {Timing::public_, Timing::secret}) {
    FixedBase on_cpu(g, n, 256, timing, {"cpu", "", 0});
    const Batch expected = on_cpu.powmod(y);
    mm_fixed_base_options options{};
    options.struct_size = sizeof options;
    options.timing = static_cast<mm_timing>(timing);
    options.exponent_bits = 256;
    mm_fixed_base* created = nullptr;
    const mm_view base = View(g).get(), modulus = View(n).get();
    ASSERT_EQ(mm_fixed_base_create(&options, &base, &modulus, &created), MM_OK) << mm_last_error();
    const FixedBasePointer fixed_base(created);
    const DeviceBatch there(y, 0);
    DeviceBatch result(Batch(5000, 16), 2);
    mm_call call = make_call({}, there.view(), {}, result.result());
    call.on_device = MM_ON_DEVICE_Y | MM_ON_DEVICE_RESULT;
    ASSERT_EQ(mm_fixed_base_powmod(created, &call), MM_OK) << mm_last_error();
    const Batch results = result.read();
    EXPECT_TRUE(std::equal(results.limbs().begin(), results.limbs().end(), expected.limbs().begin()));
  }
}

TEST_F(GpuResident, AddressesOfTheHost) {
  std::vector<std::uint64_t> limbs(4, 3);
  const mm_view host{limbs.data(), 4, 1, 1, nullptr};
  const PlanPointer plan = make_plan(plan_options(MM_OP_MULMOD));
  std::vector<std::uint64_t> results(4);
  mm_call call = make_call(host, host, host, {results.data(), 4, 1, 1, nullptr});
  call.on_device = MM_ON_DEVICE_Y;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ARGUMENT) << mm_last_error();
  void* address = nullptr;
  ASSERT_EQ(mm_device_allocate(0, 64, &address), MM_OK);
  EXPECT_EQ(mm_device_copy(0, limbs.data(), results.data(), 32, MM_COPY_TO_DEVICE), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_device_free(0, static_cast<char*>(address) + 8), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_device_free(0, address), MM_OK);
  EXPECT_EQ(mm_device_allocate(0, std::size_t{1} << 50, &address), MM_ERR_MEMORY) << mm_last_error();
}

}  // namespace
}  // namespace manymod::testing
