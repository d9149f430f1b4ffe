// SPDX-License-Identifier: Apache-2.0
// Element-wise calls on arrays in device memory, on the fake driver: whole calls in one launch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "gpu/engine/engine_helpers.hpp"
#include "resident_helpers.hpp"

namespace manymod::testing {
namespace {

constexpr mm_op kRowOperations[] = {MM_OP_ADDMOD, MM_OP_SUBMOD, MM_OP_NEGMOD,
                                    MM_OP_MULMOD, MM_OP_SQRMOD, MM_OP_FMAMOD};
constexpr mm_op kTermOperations[] = {MM_OP_SUMMOD, MM_OP_DOTMOD, MM_OP_PRODMOD};
constexpr char kVariant[] = "division32.cuda";

class RowCalls : public FakeGpuTest {
 protected:
  CudaNumbers numbers_{43};

  // Operands and moduli of `width` limbs; every third modulus is even.
  CallOperands operands(mm_op op, std::size_t count, std::size_t width, bool shared) {
    CallOperands made;
    made.op = op;
    made.count = count;
    made.x = numbers_.some(count, width);
    made.y = numbers_.some(count, width);
    if (op == MM_OP_FMAMOD) made.z = numbers_.some(count, width);
    made.modulus = numbers_.odd_moduli(shared ? 1 : count, width);
    for (std::size_t i = 1; i < made.modulus.size(); i += 3) made.modulus[i][0] &= ~std::uint64_t{1};
    return made;
  }

  // Items of `terms` terms each; y has one set for all of them where `shared`.
  CallOperands terms(mm_op op, std::size_t count, std::size_t of_each, std::size_t width, bool shared) {
    CallOperands made = operands(op, count, width, shared);
    made.terms = of_each;
    made.x = numbers_.some(count * of_each, width);
    made.y = numbers_.some(shared ? of_each : count * of_each, width);
    return made;
  }
};

TEST_F(RowCalls, AreChosenOnGpusThatAreRequestedByName) {
  for (const mm_op op : kRowOperations) {
    for (const bool shared : {false, true}) {
      const CallOperands call = operands(op, 8, 4, shared);
      EXPECT_STREQ(mm_plan_variant(make_plan(call.options("cuda")).get()), kVariant);
      EXPECT_STREQ(mm_plan_variant(make_plan(call.options("auto", "scalar64.generic")).get()),
                   "scalar64.generic");
    }
  }
  const CallOperands call = operands(MM_OP_MULMOD, 8, 4, true);
  EXPECT_STREQ(mm_plan_variant(make_plan(call.options("cuda", "row32.cuda.t1")).get()), "row32.cuda.t1");
  EXPECT_STRNE(mm_plan_variant(make_plan(call.options("auto")).get()), kVariant);
  CallOperands wide = operands(MM_OP_MULMOD, 8, 65, true);
  EXPECT_STRNE(mm_plan_variant(make_plan(wide.options("cuda")).get()), kVariant);
}

TEST_F(RowCalls, AllWidths) {
  for (const std::size_t width : {1u, 2u, 3u, 4u, 6u, 7u, 8u, 12u, 31u, 64u}) {
    for (const mm_op op : kRowOperations) {
      for (const bool shared : {false, true}) {
        const CallOperands call = operands(op, 5, width, shared);
        const std::string what = "width " + std::to_string(width);
        expect_same_as_host(call, {.device = "cuda"}, what);
        expect_same_as_host(call, {.on_device = 0, .device = "cuda"}, what);
      }
    }
  }
}

TEST_F(RowCalls, OneLaunchAndNoCopies) {
  for (const mm_op op : kRowOperations) {
    for (const bool shared : {false, true}) {
      CallOperands call = operands(op, 3000, 4, shared);
      const PlanPointer plan = make_plan(call.options("auto"));
      const DeviceBatch x(call.x, 0), y(call.y, 0), z(call.z, 0), modulus(call.modulus, 0);
      DeviceBatch result(call.x, 0);
      mm_call made{};
      made.struct_size = sizeof made;
      made.count = call.count;
      made.x = x.view();
      made.y = y.view();
      made.z = z.view();
      made.modulus = shared ? View(call.modulus).get() : modulus.view();
      made.result = result.result();
      made.on_device = kAllOnDevice & ~(shared ? unsigned{MM_ON_DEVICE_MODULUS} : 0u);
      ASSERT_EQ(mm_plan_run(plan.get(), &made), MM_OK) << mm_last_error();
      const auto before = fake_cuda::counts();
      ASSERT_EQ(mm_plan_run(plan.get(), &made), MM_OK) << mm_last_error();
      const auto after = fake_cuda::counts();
      EXPECT_EQ(after.launches - before.launches, 1u);
      EXPECT_EQ(after.to_host_bytes, before.to_host_bytes);
      EXPECT_EQ(after.events, before.events);
    }
  }
}

TEST_F(RowCalls, ResultsInPlaceOfOperandsAndModuli) {
  for (const mm_op op : kRowOperations) {
    for (const unsigned replaced : {0u, 1u, 2u, 3u}) {
      const CallOperands call = operands(op, 70, 5, false);
      if (replaced == 1 && (op == MM_OP_NEGMOD || op == MM_OP_SQRMOD)) continue;
      if (replaced == 3 && op != MM_OP_FMAMOD) continue;
      const PlanPointer plan = make_plan(call.options("cuda"));
      DeviceBatch x(call.x, 1), y(call.y, 1), modulus(call.modulus, 1), z(call.z, 1);
      DeviceBatch* const arrays[] = {&x, &y, &modulus, &z};
      DeviceBatch& result = *arrays[replaced];
      mm_call made{};
      made.x = x.view();
      made.y = y.view();
      made.z = z.view();
      made.modulus = modulus.view();
      made.result = result.result();
      made.on_device = kAllOnDevice;
      CallResults found = run_call(call, plan.get(), made, 5);
      found.results = result.read();
      expect_same(found, host_results(call), "replaced " + std::to_string(replaced));
    }
  }
}

TEST_F(RowCalls, OperandsThatAllItemsShare) {
  for (const mm_op op : kRowOperations) {
    for (const bool shared : {false, true}) {
      CallOperands call = operands(op, 9, 3, shared);
      call.y = numbers_.some(1, 2);
      for (const unsigned here : {0u, unsigned{MM_ON_DEVICE_Y}}) {
        expect_same_as_host(call, {.on_device = kAllOnDevice & ~here, .device = "cuda"}, "one y");
      }
      call.x = numbers_.some(1, 3);
      expect_same_as_host(call, {.device = "cuda"}, "one x and one y");
    }
  }
}

// What the kernels do not take goes to other variants: wider operands, and operands with signs.
TEST_F(RowCalls, OtherOperands) {
  for (const mm_op op : kRowOperations) {
    CallOperands call = operands(op, 4, 3, true);
    call.x = numbers_.some(4, 65);
    expect_same_as_host(call, {.device = "cuda"}, "wide");
    call.x = numbers_.with_signs(numbers_.some(4, 3));
    expect_same_as_host(call, {.on_device = 0, .device = "cuda"}, "signs");
    call.modulus = numbers_.with_signs(call.modulus);
    expect_same_as_host(call, {.on_device = 0, .device = "cuda"}, "signs of moduli");
  }
}

TEST_F(RowCalls, TermsOfAllWidths) {
  for (const std::size_t width : {1u, 2u, 4u, 5u, 12u, 64u}) {
    for (const mm_op op : kTermOperations) {
      for (const bool shared : {false, true}) {
        const CallOperands call = terms(op, 3, width == 64 ? 2 : 5, width, shared);
        const std::string what = "width " + std::to_string(width);
        EXPECT_STREQ(mm_plan_variant(make_plan(call.options("cuda")).get()), kVariant);
        expect_same_as_host(call, {.gap = 1, .device = "cuda"}, what);
        expect_same_as_host(call, {.on_device = 0, .device = "cuda"}, what);
        expect_same_as_host(call, {.on_device = kAllOnDevice & ~unsigned{MM_ON_DEVICE_Y}, .device = "cuda"},
                            what);
      }
    }
  }
}

// Parts of an item by a launch, and what is left of them by others.
TEST_F(RowCalls, ManyTerms) {
  for (const mm_op op : kTermOperations) {
    for (const bool shared : {false, true}) {
      for (const std::size_t items : {1u, 2u}) {
        CallOperands call = terms(op, items, 1000, 3, shared);
        if (items == 2 && !shared) std::ranges::fill(call.modulus[1], 0);
        const auto before = fake_cuda::counts().launches;
        expect_same_as_host(call, {.device = "cuda"}, "many terms");
        EXPECT_EQ(fake_cuda::counts().launches - before, 3u);  // 1000 terms, 63, 4
        expect_same_as_host(call, {.on_device = 0, .device = "cuda"}, "many terms from the host");
      }
    }
  }
}

TEST_F(RowCalls, OneTermAndNone) {
  for (const mm_op op : kTermOperations) {
    expect_same_as_host(terms(op, 3, 1, 2, true), {.device = "cuda"}, "one term");
    expect_same_as_host(terms(op, 3, 0, 2, true), {.on_device = 0, .device = "cuda"}, "no terms");
  }
}

TEST_F(RowCalls, FailingLaunch) {
  const CallOperands call = operands(MM_OP_ADDMOD, 4, 3, true);
  fake_cuda::settings().failing_launch = 0;
  EXPECT_EQ(device_results(call, {.device = "cuda"}).status, MM_ERR_DEVICE);
}

}  // namespace
}  // namespace manymod::testing
