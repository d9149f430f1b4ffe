// SPDX-License-Identifier: Apache-2.0
// Calls on a CUDA device that fails: an error with its reason on device cuda, correct results from the CPU on
// device auto, and in either case no memory or secret left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gpu/engine/engine_helpers.hpp"

namespace manymod::testing {
namespace {

const Placement kOnCuda{"cuda:0", "row32.cuda.t1", 0};
const Placement kOnAuto{"auto", "row32.cuda.t1", 0};

class CudaFaults : public FakeGpuTest {
 protected:
  static constexpr std::size_t kCount = 24;
  CudaNumbers numbers_{31};
  const Batch n_ = numbers_.odd_moduli(kCount, 2);
  const Batch x_ = numbers_.with_signs(numbers_.some(kCount, 2));
  const Batch y_ = numbers_.some(kCount, 1);
  const Operands operands_{x_, y_, n_};
  std::string message_;  // of the last call

  Plan plan(const Placement& where, Timing timing = Timing::secret) const {
    return plan_for(Op::powmod, operands_, timing, where);
  }

  // MM_OK only with right results.
  mm_status run(Plan& plan) {
    message_.clear();
    try {
      expect_right(plan.run(operands_), Op::powmod, operands_, "a call");
      return MM_OK;
    } catch (const Error& error) {
      message_ = error.what();
      return error.status();
    }
  }

  mm_status run_once(const Placement& where) {
    try {
      Plan once = plan(where);
      return run(once);
    } catch (const Error& error) {
      message_ = error.what();
      return error.status();
    }
  }

  [[nodiscard]] bool message_has(const std::string& text) const {
    return message_.find(text) != std::string::npos;
  }

  // The number of driver calls for creating a plan, one call on it, and destroying it.
  std::size_t driver_calls() {
    renew();
    EXPECT_EQ(run_once(kOnCuda), MM_OK) << message_;
    return fake_cuda::counts().calls;
  }
};

// ---- memory -------------------------------------------------------------------------------------------

TEST_F(CudaFaults, ChunksAreHalvedUntilTheyFit) {
  const std::size_t count = 500;
  const Batch n = numbers_.odd_moduli(count, 1), x = numbers_.some(count, 1), y = numbers_.some(count, 1);
  const auto launches = [&](std::size_t memory_bytes) {
    renew();
    fake_cuda::settings().memory_bytes = memory_bytes;
    check_plan(Op::mulmod, {x, y, n}, Timing::public_, kOnCuda);
    return fake_cuda::counts().launches;
  };
  EXPECT_EQ(launches(std::size_t{1} << 30), 3u);
  EXPECT_GT(launches(std::size_t{6} << 10), 15u);
}

TEST_F(CudaFaults, NoMemoryForOneItem) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1} << 10}) {
    renew();
    fake_cuda::settings().memory_bytes = bytes;
    EXPECT_EQ(run_once(kOnCuda), MM_ERR_MEMORY) << message_;
    EXPECT_TRUE(message_has("cuMemAlloc") && message_has("CUDA_ERROR_OUT_OF_MEMORY")) << message_;
    EXPECT_EQ(run_once(kOnAuto), MM_OK) << message_;
    expect_nothing_left();
  }
}

TEST_F(CudaFaults, NoPageLockedMemory) {
  fake_cuda::settings().host_memory_bytes = 100;
  EXPECT_EQ(run_once(kOnCuda), MM_ERR_MEMORY) << message_;
  EXPECT_TRUE(message_has("cuMemHostAlloc")) << message_;
  EXPECT_EQ(run_once(kOnAuto), MM_OK) << message_;
}

TEST_F(CudaFaults, AnyAllocationMayFailOnce) {
  for (std::size_t fake_cuda::Settings::* which :
       {&fake_cuda::Settings::failing_allocation, &fake_cuda::Settings::failing_host_allocation}) {
    for (std::size_t at = 0; at < 4; ++at) {
      renew();
      fake_cuda::settings().*which = at;
      EXPECT_EQ(run_once(kOnCuda), MM_OK) << message_;
      expect_nothing_left();
    }
  }
}

// If memory suffices for one chunk at a time, the others wait for it.
TEST_F(CudaFaults, CallsTakeTurnsWhereMemoryIsShort) {
  const std::size_t needed = [&] {
    std::size_t most = 0;
    fake_cuda::add_kernel("row32_1x4", [&, kernel = fake_cuda::kernel("row32_1x4")](
                                           const fake_cuda::Launch& launch, void** parameters) {
      most = fake_cuda::allocated_bytes();
      kernel(launch, parameters);
    });
    EXPECT_EQ(run_once(kOnCuda), MM_OK) << message_;
    return most;
  }();
  renew();
  fake_cuda::settings().memory_bytes = needed + needed / 4;
  fake_cuda::add_kernel("row32_1x4", [kernel = fake_cuda::kernel("row32_1x4")](
                                         const fake_cuda::Launch& launch, void** parameters) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    kernel(launch, parameters);
  });
  Plan shared = plan(kOnCuda);
  const Batch right = shared.run(operands_);
  std::atomic<int> outcomes = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        try {
          const Batch results = shared.run(operands_);
          outcomes += std::equal(right.limbs().begin(), right.limbs().end(), results.limbs().begin()) ? 1 : 0;
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(outcomes, 24);
}

TEST_F(CudaFaults, CombsWithoutMemory) {
  fake_cuda::settings().memory_bytes = 1000;
  const Batch g = numbers_.some(1, 2), n = numbers_.odd_moduli(1, 2);
  FixedBase powers(g, n, 64, Timing::public_, kOnAuto);
  expect_right(powers.powmod(y_), Op::powmod, {g, y_, n}, "fixed base on the processor");
  EXPECT_THROW(FixedBase(g, n, 64, Timing::public_, kOnCuda).powmod(y_), Error);
}

// ---- other failures of calls ----------------------------------------------------------------------------

TEST_F(CudaFaults, FailedWorkspacesAreCreatedLater) {
  Plan gpu = plan(kOnCuda);
  Plan either = plan(kOnAuto);
  fake_cuda::settings().stream_result = 801;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(run(gpu), MM_ERR_DEVICE);
    EXPECT_TRUE(message_has("cuStreamCreate") && message_has("CUDA_ERROR_NOT_SUPPORTED")) << message_;
    EXPECT_EQ(run(either), MM_OK) << message_;
  }
  fake_cuda::settings().stream_result = 0;
  EXPECT_EQ(run(gpu), MM_OK) << message_;
}

TEST_F(CudaFaults, LaunchesThatAreRefused) {
  for (std::size_t at = 0; at < 3; ++at) {
    renew();
    fake_cuda::settings().failing_launch = at;
    Plan gpu = plan(kOnCuda);
    EXPECT_EQ(run(gpu), MM_ERR_DEVICE);
    EXPECT_TRUE(message_has("cuda:0") && message_has("cuLaunchKernel") &&
                message_has("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"))
        << message_;
    EXPECT_FALSE(fake_cuda::holds(y_.limbs().data(), 8 * kCount)) << "secrets of the call that failed";
    EXPECT_FALSE(fake_cuda::holds(x_.limbs().data(), 16 * kCount));
    EXPECT_EQ(run(gpu), MM_OK) << message_;
    Plan either = plan(kOnAuto);
    fake_cuda::settings().failing_launch = fake_cuda::counts().launches + at;
    EXPECT_EQ(run(either), MM_OK) << message_;
  }
}

// Each call of the driver fails once: an error or correct results on cuda, correct results on auto.
TEST_F(CudaFaults, AnyCallMayFail) {
  const std::size_t calls = driver_calls();
  ASSERT_GT(calls, 30u);
  std::size_t failed = 0;
  for (std::size_t at = 0; at < calls; ++at) {
    SCOPED_TRACE("call " + std::to_string(at));
    renew();
    fake_cuda::settings().failing_call = at;
    const mm_status status = run_once(kOnCuda);
    EXPECT_TRUE(status == MM_OK || (status == MM_ERR_DEVICE && message_has("CUDA_ERROR_NOT_SUPPORTED")))
        << message_;
    failed += status == MM_OK ? 0 : 1;
    expect_nothing_left();
    renew();
    fake_cuda::settings().failing_call = at;
    EXPECT_EQ(run_once(kOnAuto), MM_OK) << message_;
    expect_nothing_left();
  }
  EXPECT_GT(failed, calls / 3);
}

TEST_F(CudaFaults, LostAtAnyCall) {
  const std::size_t calls = driver_calls();
  std::size_t failed = 0;
  for (std::size_t at = 0; at < calls; ++at) {
    SCOPED_TRACE("call " + std::to_string(at));
    renew();
    fake_cuda::settings().lost_at_call = at;
    const mm_status status = run_once(kOnCuda);
    EXPECT_TRUE(status == MM_OK || (status == MM_ERR_DEVICE && message_has("CUDA_ERROR_ILLEGAL_ADDRESS")))
        << message_;
    failed += status == MM_OK ? 0 : 1;
    expect_nothing_left();
    EXPECT_EQ(fake_cuda::counts().unwiped, 0u) << "of page-locked memory";
    renew();
    fake_cuda::settings().lost_at_call = at;
    EXPECT_EQ(run_once(kOnAuto), MM_OK) << message_;
    expect_nothing_left();
  }
  EXPECT_GT(failed, calls / 3);
}

TEST_F(CudaFaults, LostByAKernel) {
  for (std::size_t at = 0; at < 3; ++at) {
    renew();
    fake_cuda::settings().faulting_launch = at;
    Plan gpu = plan(kOnCuda), either = plan(kOnAuto);
    EXPECT_EQ(run(gpu), MM_ERR_DEVICE);
    EXPECT_TRUE(message_has("cuda:0") && message_has("failed: CUDA_ERROR_ILLEGAL_ADDRESS")) << message_;
    const std::size_t launches = fake_cuda::counts().launches;
    EXPECT_EQ(run(gpu), MM_ERR_DEVICE);
    EXPECT_TRUE(message_has("cuda:0") && message_has("lost by an earlier failure")) << message_;
    EXPECT_EQ(run(either), MM_OK) << message_;
    EXPECT_EQ(run_once(kOnAuto), MM_OK) << message_;
    EXPECT_EQ(fake_cuda::counts().launches, launches) << "a lost device is left alone";
  }
}

TEST_F(CudaFaults, LostInTheMiddleOfManyChunks) {
  const std::size_t count = 1500;
  const Batch n = numbers_.odd_moduli(count, 1), x = numbers_.some(count, 1), y = numbers_.some(count, 1);
  const Operands operands{x, y, n};
  for (const std::size_t at : {std::size_t{1}, std::size_t{7}, std::size_t{20}}) {
    renew();
    fake_cuda::settings().memory_bytes = std::size_t{256} << 10;
    fake_cuda::settings().faulting_launch = at;
    Plan either = plan_for(Op::mulmod, operands, Timing::public_, kOnAuto);
    expect_right(either.run(operands), Op::mulmod, operands, "lost at launch " + std::to_string(at));
    EXPECT_GE(fake_cuda::counts().launches, at);
  }
}

// ---- drivers and builds that cannot be used ---------------------------------------------------------------

TEST_F(CudaFaults, UnusableDrivers) {
  const auto expect_no_device = [&](const std::string& what) {
    EXPECT_EQ(run_once({"cuda", "", 0}), MM_ERR_UNKNOWN_DEVICE) << what << ": " << message_;
    EXPECT_EQ(run_once({"auto", "", 0}), MM_OK) << what << ": " << message_;
    EXPECT_EQ(fake_cuda::counts().contexts, 0u) << what;
  };
  fake_cuda::settings().version = 11080;
  expect_no_device("too old");

  renew();
  auto sources = fake_sources();
  sources.hidden_functions = {"cuMemAlloc_v2"};
  cuda::Driver::use(sources);
  expect_no_device("without a function that is needed");

  renew();
  sources = fake_sources();
  sources.driver = "libno-such-driver.so.1";
  cuda::Driver::use(sources);
  expect_no_device("none");

  renew();
  fake_cuda::settings().devices = 0;
  expect_no_device("without a GPU");
}

// NVML lists GPUs that the driver then does not offer.
TEST_F(CudaFaults, DriverThatDoesNotStart) {
  fake_cuda::settings().init_result = 803;
  EXPECT_EQ(run_once(kOnCuda), MM_ERR_UNKNOWN_DEVICE) << message_;
  EXPECT_EQ(run_once(kOnAuto), MM_OK) << message_;
  renew();
  fake_cuda::settings().retain_result = 46;
  EXPECT_EQ(run_once(kOnCuda), MM_ERR_UNKNOWN_DEVICE) << message_;
  EXPECT_EQ(run_once(kOnAuto), MM_OK) << message_;
}

TEST_F(CudaFaults, KernelsThatCannotBeLoaded) {
  fake_cuda::settings().load_result = 209;
  EXPECT_EQ(run_once(kOnCuda), MM_ERR_DEVICE);
  EXPECT_TRUE(message_has("CUDA_ERROR_NO_BINARY_FOR_GPU")) << message_;
  EXPECT_EQ(run_once(kOnAuto), MM_OK) << message_;

  fake_cuda::reset();
  cuda::Driver::use(fake_sources());
  EXPECT_EQ(run_once(kOnCuda), MM_ERR_DEVICE);
  EXPECT_TRUE(message_has("has no kernel row32_1x4")) << message_;
  EXPECT_EQ(run_once(kOnAuto), MM_OK) << message_;
}

// ---- forked children ------------------------------------------------------------------------------------

TEST_F(CudaFaults, ForkedAfterUse) {
  Plan gpu = plan(kOnCuda), either = plan(kOnAuto);
  EXPECT_EQ(run(gpu), MM_OK) << message_;
  EXPECT_TRUE(true_in_child([&] {
    const bool refused =
        run(gpu) == MM_ERR_DEVICE && message_has("forked") && run_once(kOnCuda) == MM_ERR_DEVICE;
    return refused && run(either) == MM_OK && run_once(kOnAuto) == MM_OK &&
           run_once({"cpu", "", 0}) == MM_OK && fake_cuda::counts().misuses == 0;
  }));
  EXPECT_EQ(run(gpu), MM_OK) << message_;
}

TEST_F(CudaFaults, ForkedBeforeUse) {
  Plan gpu = plan(kOnCuda);
  EXPECT_TRUE(true_in_child([&] { return run(gpu) == MM_OK && run_once(kOnCuda) == MM_OK; }));
  EXPECT_EQ(run(gpu), MM_OK) << message_;
}

// In the child, all workspaces and locks of the engine are taken.
TEST_F(CudaFaults, ForkedWhileOthersCompute) {
  std::atomic<int> computing = 0;
  std::atomic<bool> proceed = false;
  fake_cuda::add_kernel("row32_1x4", [&, kernel = fake_cuda::kernel("row32_1x4")](
                                         const fake_cuda::Launch& launch, void** parameters) {
    ++computing;
    while (!proceed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kernel(launch, parameters);
  });
  Plan gpu = plan(kOnCuda), either = plan(kOnAuto);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] { expect_right(gpu.run(operands_), Op::powmod, operands_, "a call"); });
  }
  while (computing < 4) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(true_in_child([&] { return run(gpu) == MM_ERR_DEVICE && run(either) == MM_OK; }));
  proceed = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace manymod::testing
