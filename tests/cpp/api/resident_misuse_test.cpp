// SPDX-License-Identifier: Apache-2.0
// Invalid calls on arrays in device memory, invalid calls of the functions on device memory, and the data
// that remains when calls fail or are cancelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "gpu/engine/engine_helpers.hpp"
#include "resident_helpers.hpp"

namespace manymod::testing {
namespace {

class ResidentMisuse : public FakeGpuTest {
 protected:
  static constexpr std::size_t kCount = 10;

  void SetUp() override {
    FakeGpuTest::SetUp();
    fake_cuda::settings().devices = 2;
  }

  CudaNumbers numbers_{43};
  Batch x_ = numbers_.some(kCount, 2), modulus_ = numbers_.odd_moduli(kCount, 2);

  // Expect a call x * x mod n on cuda:0, modified by `change`, to be rejected without writing anything.
  template <class Change>
  void expect_refused(mm_status expected, const std::string& message, Change&& change) {
    const PlanPointer plan = make_plan(plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, 128));
    const DeviceBatch x(x_, 0), modulus(modulus_, 0);
    DeviceBatch result(x_, 0);
    mm_call call = make_call(x.view(), x.view(), modulus.view(), result.result());
    call.on_device = kAllOnDevice;
    change(call);
    EXPECT_EQ(mm_plan_run(plan.get(), &call), expected) << message;
    EXPECT_NE(std::string(mm_last_error()).find(message), std::string::npos) << mm_last_error();
    const Batch after = result.read();
    EXPECT_TRUE(std::equal(after.limbs().begin(), after.limbs().end(), x_.limbs().begin()));
  }
};

TEST_F(ResidentMisuse, HostMemoryGivenAsTheDevices) {
  expect_refused(MM_ERR_ARGUMENT, "y.limbs is not in the memory of a CUDA device, expected cuda:0",
                 [&](mm_call& call) { call.y = {x_.limbs().data(), kCount, 2, 2, nullptr}; });
  Batch result(kCount, 2);
  expect_refused(MM_ERR_ARGUMENT, "result.limbs is not in the memory",
                 [&](mm_call& call) { call.result = {result.limbs().data(), kCount, 2, 2, nullptr}; });
}

TEST_F(ResidentMisuse, AnotherDevicesMemory) {
  expect_refused(MM_ERR_ARGUMENT, "x.limbs is in the memory of cuda:0, expected cuda:1",
                 [](mm_call& call) { call.device_index = 1; });
  const DeviceBatch other(x_, 0, 1);
  expect_refused(MM_ERR_ARGUMENT, "y.limbs is in the memory of cuda:1, expected cuda:0",
                 [&](mm_call& call) { call.y = other.view(); });
}

TEST_F(ResidentMisuse, ArraysLargerThanTheirMemory) {
  // A static array lies below the allocations, so a device array with an exaggerated size does not overlap
  // it.
  static std::array<std::uint64_t, 2 * kCount> results;
  const auto to_host = [](mm_call& call) {
    call.result = {results.data(), kCount, 2, 2, nullptr};
    call.on_device &= ~unsigned{MM_ON_DEVICE_RESULT};
  };
  expect_refused(MM_ERR_ARGUMENT, "y.limbs is larger than the memory there, expected cuda:0",
                 [&](mm_call& call) {
                   to_host(call);
                   call.y.stride = 100'000;
                 });
  expect_refused(MM_ERR_ARGUMENT, "y.width is 134217728, on a device at most", [&](mm_call& call) {
    to_host(call);
    call.y = {call.y.limbs, 1, std::size_t{1} << 27, 0, nullptr};
  });
}

TEST_F(ResidentMisuse, DevicesThatAreNotThere) {
  expect_refused(MM_ERR_UNKNOWN_DEVICE, "no device cuda:2", [](mm_call& call) { call.device_index = 2; });
  expect_refused(MM_ERR_UNKNOWN_DEVICE, "no device cuda:4294967295",
                 [](mm_call& call) { call.device_index = 4294967295u; });
}

TEST_F(ResidentMisuse, UnknownArrays) {
  expect_refused(MM_ERR_ARGUMENT, "on_device is 63", [](mm_call& call) { call.on_device = 63; });
}

TEST_F(ResidentMisuse, Signs) {
  std::vector<std::uint8_t> signs(kCount, 0);
  expect_refused(MM_ERR_ARGUMENT, "x.negative is not NULL, but x is on a device",
                 [&](mm_call& call) { call.x.negative = signs.data(); });
  expect_refused(MM_ERR_ARGUMENT, "result.negative is not NULL",
                 [&](mm_call& call) { call.result.negative = signs.data(); });
  signs[3] = 1;
  expect_refused(MM_ERR_ARGUMENT, "a modulus is negative, but the result is on a device", [&](mm_call& call) {
    call.modulus = {modulus_.limbs().data(), kCount, 2, 2, signs.data()};
    call.on_device &= ~unsigned{MM_ON_DEVICE_MODULUS};
  });
}

TEST_F(ResidentMisuse, OverlapsAsOfHostArrays) {
  expect_refused(MM_ERR_OVERLAP, "result.limbs overlaps x.limbs", [](mm_call& call) {
    call.x = {call.result.limbs + 1, kCount - 1, 2, 2, nullptr};
    call.x.count = 1;
  });
}

TEST_F(ResidentMisuse, AnOlderCallersStructHasNoDevice) {
  const PlanPointer plan = make_plan(plan_options(MM_OP_SQRMOD, MM_TIMING_PUBLIC, 128));
  Batch results(kCount, 2);
  mm_call call = make_call({x_.limbs().data(), kCount, 2, 2, nullptr}, {}, View(modulus_).get(),
                           {results.limbs().data(), kCount, 2, 2, results.signs().data()});
  call.struct_size = offsetof(mm_call, on_device);
  call.on_device = kAllOnDevice;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
}

TEST_F(ResidentMisuse, LostDevice) {
  PlanPointer plan = make_plan(plan_options(MM_OP_SQRMOD, MM_TIMING_PUBLIC, 128));
  void* address = nullptr;
  ASSERT_EQ(mm_device_allocate(0, kCount * 16, &address), MM_OK);
  ASSERT_EQ(mm_device_copy(0, address, x_.limbs().data(), kCount * 16, MM_COPY_TO_DEVICE), MM_OK);
  auto* const limbs = static_cast<std::uint64_t*>(address);
  mm_call call =
      make_call({limbs, kCount, 2, 2, nullptr}, {}, View(modulus_).get(), {limbs, kCount, 2, 2, nullptr});
  call.on_device = MM_ON_DEVICE_X | MM_ON_DEVICE_RESULT;
  fake_cuda::settings().faulting_launch = 0;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_DEVICE);
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_DEVICE);
  EXPECT_EQ(mm_device_copy(0, limbs, limbs + 2, 16, MM_COPY_ON_DEVICE), MM_ERR_DEVICE);
  EXPECT_EQ(mm_device_free(0, address), MM_ERR_DEVICE);
  plan.reset();
  fake_cuda::reset();  // memory of a lost device cannot be freed
}

TEST_F(ResidentMisuse, PlanInAForkedChild) {
  const PlanPointer plan = make_plan(plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, 128));
  const DeviceBatch x(x_, 0), modulus(modulus_, 0), result(x_, 0);
  mm_call call = make_call(x.view(), x.view(), modulus.view(), result.result());
  call.on_device = kAllOnDevice;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
  EXPECT_TRUE(true_in_child([&] { return mm_plan_run(plan.get(), &call) == MM_ERR_DEVICE; }));
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
}

// Each chunk takes longer than the interval of the progress callback.
TEST_F(ResidentMisuse, CancelledCall) {
  fake_cuda::add_kernel("row32_1x2", [](const fake_cuda::Launch&, void**) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  });
  const std::size_t count = 3000;
  const Batch n = numbers_.odd_moduli(count, 1), x = numbers_.some(count, 1);
  const Batch y = single(65537, 20'000);  // constant-time: the work is determined by the width
  mm_plan_options options = plan_options(MM_OP_POWMOD, MM_TIMING_SECRET, 64);
  options.device = "cuda:0";
  options.variant = "row32.cuda.t1";
  options.threads = 2;
  const PlanPointer plan = make_plan(options);
  const DeviceBatch base(x, 0), modulus(n, 0);
  DeviceBatch result(x, 0);
  std::vector<std::uint8_t> statuses(count, 0xff);
  mm_call call = make_call(base.view(), View(y).get(), modulus.view(), result.result(), statuses.data());
  call.on_device = MM_ON_DEVICE_X | MM_ON_DEVICE_MODULUS | MM_ON_DEVICE_RESULT;
  call.progress = [](std::size_t, std::size_t, void*) { return 1; };
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_CANCELLED);
  const auto left = std::count(statuses.begin(), statuses.end(), MM_ITEM_NOT_COMPUTED);
  EXPECT_GT(left, 0);
  const Batch results = result.read();
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(statuses[i] == MM_OK || results[i][0] == 0) << "item " << i;
  }
}

class ResidentSecrets : public ResidentMisuse {
 protected:
  const Batch y_ = numbers_.some(kCount, 1);
  std::size_t calls_ = 0;  // driver calls of the last run

  [[nodiscard]] CallOperands operands_of(mm_op op) const {
    return binary_operands(op, MM_TIMING_SECRET, x_, y_, modulus_);
  }

  // Run a call on arrays that are freed when it returns. Driver call number `failing` of the plan fails.
  CallResults run(const CallOperands& operands, mm_plan* plan, std::size_t failing) {
    const DeviceBatch x(x_, 1), exponents(y_, 1), modulus(modulus_, 1);
    DeviceBatch result(x_, 2);
    mm_call call = make_call(x.view(), exponents.view(), modulus.view(), result.result());
    call.on_device = kAllOnDevice;
    CallResults returned;
    {
      const FailingCall failure(failing);
      returned = run_call(operands, plan, call, 2);
      calls_ = failure.calls();
    }
    returned.results = result.read();
    return returned;
  }

  void expect_none_left(const Batch& batch, const std::string& what) const {
    for (std::size_t i = 0; i < kCount; ++i) {
      const bool long_enough = batch[i][0] >> 32 != 0;  // short numbers also occur in step programs
      const std::size_t bytes = batch.width() * sizeof(std::uint64_t);
      EXPECT_FALSE(long_enough && fake_cuda::holds(batch[i].data(), bytes)) << what << ", item " << i;
    }
  }
};

constexpr mm_op kGpuAndHost[] = {MM_OP_POWMOD, MM_OP_INVMOD};  // computed on the GPU, and via the host

// The intermediate data of a constant-time call is zeroed. The caller's arrays are not: they belong to the
// caller.
TEST_F(ResidentSecrets, NothingIsLeft) {
  for (const mm_op op : kGpuAndHost) {
    const CallOperands operands = operands_of(op);
    const PlanPointer plan = make_plan(operands.options("auto"));
    const CallResults actual = run(operands, plan.get(), fake_cuda::kNever);
    expect_same(actual, host_results(operands), "secrets");
    expect_none_left(x_, "x");
    expect_none_left(y_, "y");
    expect_none_left(actual.results, "results");
  }
}

TEST_F(ResidentSecrets, NothingIsLeftByCallsThatFail) {
  for (const mm_op op : kGpuAndHost) {
    const CallOperands operands = operands_of(op);
    const CallResults expected = host_results(operands);
    calls_ = 0;
    std::size_t failed = 0;
    for (std::size_t at = 0; at <= calls_ && !HasFailure(); ++at) {
      renew();
      const PlanPointer plan = make_plan(operands.options("auto"));
      const CallResults actual = run(operands, plan.get(), at);
      const std::string what = "operation " + std::to_string(op) + ", call " + std::to_string(at);
      if (actual.status == expected.status) {
        expect_same(actual, expected, what);
      } else {
        EXPECT_EQ(actual.status, MM_ERR_DEVICE) << what;
        ++failed;
      }
      expect_none_left(x_, what);
      expect_none_left(y_, what);
      expect_none_left(expected.results, what);
    }
    EXPECT_GT(failed, 10u);
  }
  renew();  // data may remain where zeroing itself failed
}

class DeviceMemory : public FakeCudaTest {};

TEST_F(DeviceMemory, CopiesThereAndBack) {
  const std::vector<unsigned char> bytes{1, 2, 3, 4, 5, 6, 7};
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(mm_device_allocate(0, 7, &first), MM_OK);
  ASSERT_EQ(mm_device_allocate(0, 7, &second), MM_OK);
  EXPECT_EQ(mm_device_copy(0, first, bytes.data(), 7, MM_COPY_TO_DEVICE), MM_OK);
  EXPECT_EQ(mm_device_copy(0, second, static_cast<unsigned char*>(first) + 2, 5, MM_COPY_ON_DEVICE), MM_OK);
  std::vector<unsigned char> back(5);
  EXPECT_EQ(mm_device_copy(0, back.data(), second, 5, MM_COPY_TO_HOST), MM_OK);
  EXPECT_EQ(back, (std::vector<unsigned char>{3, 4, 5, 6, 7}));
  EXPECT_EQ(mm_device_copy(0, nullptr, nullptr, 0, MM_COPY_TO_HOST), MM_OK);
  EXPECT_EQ(mm_device_free(0, first), MM_OK);
  EXPECT_EQ(mm_device_free(0, second), MM_OK);
  EXPECT_EQ(mm_device_free(0, nullptr), MM_OK);
}

TEST_F(DeviceMemory, WhatCannotBe) {
  fake_cuda::settings().devices = 2;
  int mark = 0;
  void* address = &mark;
  EXPECT_EQ(mm_device_allocate(2, 7, &address), MM_ERR_UNKNOWN_DEVICE);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(mm_device_allocate(0, 7, nullptr), MM_ERR_NULL);
  address = &mark;
  EXPECT_EQ(mm_device_allocate(0, std::size_t{1} << 40, &address), MM_ERR_MEMORY);
  EXPECT_EQ(address, nullptr);
  address = &mark;
  EXPECT_EQ(mm_device_allocate(0, 0, &address), MM_OK);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(mm_device_free(0, &mark), MM_ERR_ARGUMENT);
  ASSERT_EQ(mm_device_allocate(0, 64, &address), MM_OK);
  EXPECT_EQ(mm_device_free(1, address), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_device_copy(0, address, nullptr, 4, MM_COPY_TO_DEVICE), MM_ERR_NULL);
  EXPECT_EQ(mm_device_copy(0, nullptr, &mark, 4, MM_COPY_TO_DEVICE), MM_ERR_NULL);
  EXPECT_EQ(mm_device_copy(0, &mark, &mark, 4, MM_COPY_TO_DEVICE), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_device_copy(1, &mark, address, 4, MM_COPY_TO_HOST), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_device_copy(0, address, &mark, 4, static_cast<mm_copy_direction>(3)), MM_ERR_ARGUMENT);
  const void* const inside = static_cast<const char*>(address) + 8;
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 8}) {  // the last byte's address wraps around
    EXPECT_EQ(mm_device_copy(0, &mark, inside, bytes, MM_COPY_TO_HOST), MM_ERR_ARGUMENT) << bytes;
  }
  EXPECT_EQ(mm_device_free(0, address), MM_OK);
  EXPECT_EQ(mm_device_free(0, address), MM_ERR_ARGUMENT);
}

TEST_F(DeviceMemory, InAForkedChild) {
  void* address = nullptr;
  ASSERT_EQ(mm_device_allocate(0, 64, &address), MM_OK);
  EXPECT_TRUE(true_in_child([&] {
    void* own = nullptr;
    return mm_device_allocate(0, 64, &own) == MM_ERR_DEVICE && mm_device_free(0, address) == MM_ERR_DEVICE &&
           mm_device_copy(0, address, address, 8, MM_COPY_ON_DEVICE) == MM_ERR_DEVICE;
  }));
  EXPECT_EQ(mm_device_free(0, address), MM_OK);
}

TEST(DeviceMemoryWithoutGpu, SaysSo) {
  if (mm_device_count() > 1) GTEST_SKIP() << "there is a GPU";
  void* address = nullptr;
  EXPECT_EQ(mm_device_allocate(0, 64, &address), MM_ERR_UNKNOWN_DEVICE);
  EXPECT_NE(std::string(mm_last_error()).find("no device cuda:0"), std::string::npos) << mm_last_error();
  std::uint64_t limbs = 3;
  const PlanPointer plan = make_plan(plan_options(MM_OP_SQRMOD));
  mm_call call =
      make_call({&limbs, 1, 1, 1, nullptr}, {}, {&limbs, 1, 1, 1, nullptr}, {&limbs, 1, 1, 1, nullptr});
  call.on_device = MM_ON_DEVICE_X;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_UNKNOWN_DEVICE);
}

}  // namespace
}  // namespace manymod::testing
