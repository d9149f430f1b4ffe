// SPDX-License-Identifier: Apache-2.0
// Results that replace an operand in device memory, when a driver call at any place is out of memory: what
// was replaced must not be computed from again.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "gpu/engine/engine_helpers.hpp"
#include "resident_helpers.hpp"

namespace manymod::testing {
namespace {

constexpr int kOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY

class ReplacedOperands : public FakeGpuTest {
 protected:
  static constexpr std::size_t kCount = 10;
  CudaNumbers numbers_{47};
  const Batch x_ = numbers_.some(kCount, 2), y_ = numbers_.some(kCount, 2);
  std::size_t calls_ = 0;  // driver calls of the last run

  // x = x op y, where driver call number `failing` of the run is out of memory.
  CallResults run(const CallOperands& operands, std::size_t failing) {
    const PlanPointer plan = make_plan(operands.options("auto"));
    DeviceBatch x(x_, 1);
    const DeviceBatch y(y_, 1), modulus(operands.modulus, 1);
    mm_call call = make_call(x.view(), y.view(), modulus.view(), x.result());
    call.on_device = kAllOnDevice;
    fake_cuda::settings().call_result = kOutOfMemory;
    CallResults returned;
    {
      const FailingCall failure(failing);
      returned = run_call(operands, plan.get(), call, 2);
      calls_ = failure.calls();
    }
    returned.results = x.read();
    return returned;
  }

  void check(mm_op op, mm_timing timing, std::size_t moduli) {
    const CallOperands operands = binary_operands(op, timing, x_, y_, numbers_.odd_moduli(moduli, 2));
    const CallResults expected = host_results(operands);
    std::size_t right = 0, failed = 0;
    calls_ = 0;
    for (std::size_t at = 0; at <= calls_ && !HasFailure(); ++at) {
      renew();
      const CallResults actual = run(operands, at);
      if (actual.status != MM_OK) {
        EXPECT_TRUE(actual.status == MM_ERR_DEVICE || actual.status == MM_ERR_MEMORY) << mm_last_error();
        ++failed;
        continue;
      }
      expect_same(actual, expected, "operation " + std::to_string(op) + ", call " + std::to_string(at));
      ++right;
    }
    EXPECT_GT(right, 1u);
    EXPECT_GT(failed, 1u);
  }
};

TEST_F(ReplacedOperands, Powers) {
  check(MM_OP_POWMOD, MM_TIMING_PUBLIC, kCount);
  check(MM_OP_POWMOD, MM_TIMING_SECRET, kCount);
  check(MM_OP_POWMOD, MM_TIMING_PUBLIC, 1);
  renew();  // data may remain where zeroing itself failed
}

TEST_F(ReplacedOperands, ElementWise) {
  check(MM_OP_MULMOD, MM_TIMING_PUBLIC, kCount);
  check(MM_OP_MULMOD, MM_TIMING_PUBLIC, 1);
  check(MM_OP_ADDMOD, MM_TIMING_PUBLIC, kCount);
}

TEST_F(ReplacedOperands, ByTheHost) { check(MM_OP_INVMOD, MM_TIMING_PUBLIC, kCount); }

}  // namespace
}  // namespace manymod::testing
