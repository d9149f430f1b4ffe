// SPDX-License-Identifier: Apache-2.0
// Calls of a technique with constants that end early, or for which the device has little memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/engine/constants_engine.hpp"

namespace manymod::testing::with_constants {
namespace {

TEST_F(ConstantsEngine, ShortOfMemory) {
  const std::size_t count = 60, width = 2;
  const Numbers x = some(count, width), y = some(count, 1), n = moduli(count, width);
  for (std::size_t fake_cuda::Settings::* which :
       {&fake_cuda::Settings::failing_allocation, &fake_cuda::Settings::failing_host_allocation}) {
    for (std::size_t at = 0; at < 6; ++at) {
      SCOPED_TRACE(at);
      engine_.reset();
      renew();
      start();
      fake_cuda::settings().*which = at;
      check(Operation::powmod, kPublic, x, y, n, count);
    }
  }
  for (const std::size_t bytes : {std::size_t{1} << 10, std::size_t{128} << 10, std::size_t{256} << 10}) {
    engine_.reset();
    renew();
    start();
    fake_cuda::settings().memory_bytes = bytes;
    if (bytes > 1 << 10) {
      check(Operation::powmod, kPublic, x, y, n, count);
    } else {
      EXPECT_EQ(fault_in([&] { check(Operation::powmod, kPublic, x, y, n, count); }),
                cuda::Fault::out_of_memory);
    }
  }
}

// Constants of a modulus are kept on the host until they are on the device.
TEST_F(ConstantsEngine, NoMemoryForConstantsAtFirst) {
  const Numbers x = some(4, 2), y = some(4, 1), n{2, modulus(2, false), nullptr};
  const auto prepared = engine_->prepare(n.limbs, Operation::powmod, kPublic);
  const int built = modulus_constants_built;
  fake_cuda::settings().memory_bytes = 4096;
  EXPECT_EQ(fault_in([&] { check(Operation::powmod, kPublic, x, y, n, 4, prepared.get()); }),
            cuda::Fault::out_of_memory);
  EXPECT_EQ(seen_.shared_launches, 0);
  fake_cuda::settings().memory_bytes = fake_cuda::Settings().memory_bytes;
  check(Operation::powmod, kPublic, x, y, n, 4, prepared.get());
  EXPECT_GT(seen_.shared_launches, 0);
  EXPECT_EQ(modulus_constants_built - built, 1);
}

// The memory that the technique's kernel needed is available to the kernel that computes the refused items.
TEST_F(ConstantsEngine, MemoryForOneKernelAtATime) {
  const Numbers x = some(1, 2), y = some(1, 4), n{2, modulus(2, true), nullptr};
  std::size_t needed = 0;
  fake_cuda::add_kernel("constants_6", [&needed, kernel = fake_cuda::kernel("constants_6")](
                                           const fake_cuda::Launch& launch, void** parameters) {
    needed = fake_cuda::allocated_bytes();
    kernel(launch, parameters);
  });
  check(Operation::powmod, kSecret, x, y, n, 1);
  engine_.reset();
  renew();
  start();
  fake_cuda::settings().memory_bytes = needed;
  check(Operation::powmod, kSecret, x, y, n, 1);
}

// Memory is short only for the refused item: the others are not computed again from their results.
TEST_F(ConstantsEngine, NoMemoryForARefusedItem) {
  const std::size_t count = 9, width = 2;
  Numbers x = some(count, width), n{width, {}, nullptr};
  for (std::size_t i = 0; i < count; ++i) append(n, modulus(width, i == 4));
  const Limbs before = x.limbs;
  Call engine_call = call(Operation::sqrmod, kPublic, x, {}, n, {x.limbs.data(), count, width, width});
  fake_cuda::add_kernel("constants_6", [kernel = fake_cuda::kernel("constants_6")](
                                           const fake_cuda::Launch& launch, void** parameters) {
    kernel(launch, parameters);
    fake_cuda::settings().failing_launch = fake_cuda::counts().launches;
    fake_cuda::settings().launch_result = 2;
  });
  EXPECT_EQ(fault_in([&] { engine_->run(engine_call.job, engine_call.items, engine_call.limbs); }),
            cuda::Fault::out_of_memory);
  const Numbers operand{width, before, nullptr};
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(engine_call.statuses[i], i == 4 ? ItemStatus::not_computed : ItemStatus::ok);
    const Limbs right =
        i == 4 ? operand.number(i) : expected(Operation::sqrmod, operand.number(i), {}, n.number(i));
    EXPECT_EQ(x.number(i), right) << i;
  }
}

// A launch of any kernel fails: items that are not computed keep their operands.
TEST_F(ConstantsEngine, FailuresLeaveUncomputedItemsUnchanged) {
  const std::size_t count = 12, width = 2;
  const Numbers x = some(count, width), y = some(count, 1), n = moduli(count, width);
  std::size_t failed = 0, computed = 0;
  for (std::size_t at = 0; at < 8; ++at) {
    SCOPED_TRACE(at);
    engine_.reset();
    renew();
    start();
    Numbers place{width, x.limbs, nullptr};
    place.send();
    fake_cuda::settings().failing_launch = at;
    Call engine_call = call(Operation::powmod, kPublic, place, y, n,
                            {place.there->as<Limb>(), count, width, width, nullptr, true});
    const auto fault = fault_in([&] { engine_->run(engine_call.job, engine_call.items, engine_call.limbs); });
    failed += fault ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_done = engine_call.statuses[i] == ItemStatus::ok;
      computed += fault && is_done ? 1 : 0;
      const Limbs right =
          is_done ? expected(Operation::powmod, x.number(i), y.number(i), n.number(i)) : x.number(i);
      EXPECT_EQ(Limbs(place.data() + i * width, place.data() + (i + 1) * width), right) << i;
      EXPECT_TRUE(fault || is_done);
    }
  }
  EXPECT_GE(failed, 5u);
  EXPECT_GT(computed, 0u);
}

// The same for a failure of any driver call and for the loss of the device, with results in place of an
// operand on the host.
TEST_F(ConstantsEngine, AnyCallMayFail) {
  const std::size_t count = 6, width = 2;
  const Numbers x = some(count, width), n = moduli(count, width);
  // @return whether the engine threw
  const auto run = [&] {
    Numbers place{width, x.limbs, nullptr};
    Call engine_call =
        call(Operation::sqrmod, kPublic, place, {}, n, {place.limbs.data(), count, width, width});
    const bool failed =
        fault_in([&] { engine_->run(engine_call.job, engine_call.items, engine_call.limbs); }).has_value();
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_done = engine_call.statuses[i] == ItemStatus::ok;
      const Limbs right = is_done ? expected(Operation::sqrmod, x.number(i), {}, n.number(i)) : x.number(i);
      EXPECT_EQ(place.number(i), right) << i;
      EXPECT_TRUE(failed || is_done);
    }
    engine_.reset();
    return failed;
  };
  EXPECT_FALSE(run());
  const std::size_t calls = fake_cuda::counts().calls;
  for (std::size_t fake_cuda::Settings::* how :
       {&fake_cuda::Settings::failing_call, &fake_cuda::Settings::lost_at_call}) {
    std::size_t failures = 0;
    for (std::size_t at = 0; at < calls; ++at) {
      SCOPED_TRACE("call " + std::to_string(at));
      renew();
      start();
      fake_cuda::settings().*how = at;
      failures += run() ? 1 : 0;
      expect_nothing_left();
    }
    EXPECT_GT(failures, calls / 2);
  }
}

TEST_F(ConstantsEngine, RefusedItemsOfACallThatIsStopped) {
  const Numbers x = some(9, 2), y = some(9, 1), n = moduli(9, 2);
  Limbs results(18);
  Call engine_call = call(Operation::powmod, kPublic, x, y, n, {results.data(), 9, 2, 2});
  std::atomic<bool> stop = false;
  fake_cuda::add_kernel("constants_6", [&stop, kernel = fake_cuda::kernel("constants_6")](
                                           const fake_cuda::Launch& launch, void** parameters) {
    kernel(launch, parameters);
    stop = true;
  });
  engine_call.job.stop = StopToken(&stop);
  engine_->run(engine_call.job, engine_call.items, engine_call.limbs);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(engine_call.statuses[i], i % 3 == 1 ? ItemStatus::not_computed : ItemStatus::ok);
  }
}

}  // namespace
}  // namespace manymod::testing::with_constants
